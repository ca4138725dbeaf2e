// A fake of NVIDIA's driver library, named by HEADSCOPE_CUDA_DRIVER. Its answers come from the environment, read at
// every call, so that one process can test several machines:
//   HEADSCOPE_FAKE_CUDA_INIT     what cuInit returns, 0 if not set
//   HEADSCOPE_FAKE_CUDA_VERSION  the driver's version, 13000 (CUDA 13.0) if not set
//   HEADSCOPE_FAKE_CUDA_CARDS    "NAME,SM,MIB[,KIB];NAME,SM,MIB", one H200 if not set; a card with SM 0 fails when
//   asked
//                                for its capability, and one with MIB 0 is in compute mode Prohibited; KIB of shared
//                                memory for a block, 227 if not given
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kNoDevice = 100;
constexpr int kInvalidDevice = 101;
constexpr int kUnknown = 999;

std::string setting(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : value;
}

struct Card {
    std::string name;
    int sm = 0;
    std::size_t mib = 0;
    int shared_kib = 227;
};

std::vector<Card> cards() {
    std::vector<Card> found;
    std::istringstream all(setting("HEADSCOPE_FAKE_CUDA_CARDS", "Fake H200,90,143771"));
    for (std::string text; std::getline(all, text, ';');) {
        std::istringstream fields(text);
        std::string sm;
        std::string mib;
        Card card;
        std::getline(fields, card.name, ',');
        std::getline(fields, sm, ',');
        std::getline(fields, mib, ',');
        card.sm = std::atoi(sm.c_str());
        card.mib = static_cast<std::size_t>(std::atoll(mib.c_str()));
        if (std::string kib; std::getline(fields, kib, ',')) {
            card.shared_kib = std::atoi(kib.c_str());
        }
        found.push_back(card);
    }
    return found;
}

bool has(int device) {
    return device >= 0 && static_cast<std::size_t>(device) < cards().size();
}

}  // namespace

extern "C" {

int cuInit(unsigned /*flags*/) {
    return std::atoi(setting("HEADSCOPE_FAKE_CUDA_INIT", "0").c_str());
}

int cuDriverGetVersion(int* version) {
    *version = std::atoi(setting("HEADSCOPE_FAKE_CUDA_VERSION", "13000").c_str());
    return kSuccess;
}

int cuDeviceGetCount(int* count) {
    *count = static_cast<int>(cards().size());
    return kSuccess;
}

int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return has(ordinal) ? kSuccess : kInvalidDevice;
}

int cuDeviceGetName(char* name, int length, int device) {
    if (!has(device)) {
        return kInvalidDevice;
    }
    std::snprintf(name, static_cast<std::size_t>(length), "%s", cards()[static_cast<std::size_t>(device)].name.c_str());
    return kSuccess;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    if (!has(device)) {
        return kInvalidDevice;
    }
    *bytes = cards()[static_cast<std::size_t>(device)].mib << 20U;
    return kSuccess;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
    if (!has(device)) {
        return kInvalidDevice;
    }
    const Card card = cards()[static_cast<std::size_t>(device)];
    switch (attribute) {
        case 16: *value = 132; break;                    // multiprocessors
        case 20: *value = card.mib == 0 ? 2 : 0; break;  // compute mode
        case 32: *value = 1; break;                      // ECC
        case 38: *value = 50 << 20; break;               // L2 cache, bytes
        case 75: *value = card.sm / 10; break;           // compute capability, major
        case 76: *value = card.sm % 10; break;           // and minor
        case 97: *value = card.shared_kib << 10; break;  // shared memory that a block can ask for, bytes
        default: return kInvalidValue;
    }
    return card.sm == 0 ? kUnknown : kSuccess;
}

int cuGetErrorName(int error, const char** name) {
    *name = error == kNoDevice ? "CUDA_ERROR_NO_DEVICE" : error == kUnknown ? "CUDA_ERROR_UNKNOWN" : nullptr;
    return *name == nullptr ? kInvalidValue : kSuccess;
}

int cuGetErrorString(int error, const char** words) {
    *words = error == kUnknown ? "unknown error" : nullptr;
    return *words == nullptr ? kInvalidValue : kSuccess;
}

}  // extern "C"
