#include "backends/cuda/loader/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "support/check.h"

namespace headscope::cuda {

namespace {

// The part of the driver's C interface that is used. Its numbers are part of its ABI and never change.
using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kStubLibrary = 34;
constexpr Result kNoDevice = 100;
constexpr Result kOperatingSystem = 304;
constexpr Result kSystemNotReady = 802;
constexpr Result kDriverMismatch = 803;
constexpr Result kCompatNotSupported = 804;
constexpr Result kUnknown = 999;

enum Attribute : int {
    kMultiprocessors = 16,
    kComputeMode = 20,
    kEccEnabled = 32,
    kL2Bytes = 38,
    kMajor = 75,
    kMinor = 76,
    kSharedBytesOptIn = 97,
};
constexpr int kProhibited = 2;  // of kComputeMode

struct Functions {
    Result (*cuInit)(unsigned) = nullptr;
    Result (*cuDriverGetVersion)(int*) = nullptr;
    Result (*cuDeviceGetCount)(int*) = nullptr;
    Result (*cuDeviceGet)(int*, int) = nullptr;
    Result (*cuDeviceGetName)(char*, int, int) = nullptr;
    Result (*cuDeviceGetAttribute)(int*, int, int) = nullptr;
    Result (*cuDeviceTotalMem_v2)(std::size_t*, int) = nullptr;
    Result (*cuGetErrorName)(Result, const char**) = nullptr;
    Result (*cuGetErrorString)(Result, const char**) = nullptr;
};

// Advice about a library that is not a driver, depending on who named it.
std::string advice_for_library(const std::string& library, const Settings& settings, const char* otherwise) {
    return library == settings.get("HEADSCOPE_CUDA_DRIVER")
               ? "HEADSCOPE_CUDA_DRIVER names it: unset it, or name the driver's libcuda.so.1"
               : otherwise;
}

void* open_library(const std::string& library, const Settings& settings) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const std::string words = dlerror();
        const bool absent = words == library + ": cannot open shared object file: No such file or directory";
        throw Error(
            fmt::format("no NVIDIA driver ({}); {}", absent ? "there is no " + library : words,
                        advice_for_library(library, settings,
                                           "on a machine with an NVIDIA card, install it (Debian: nvidia-driver)")));
    }
    return handle;
}

template <class Function>
void find(void* handle, const char* name, Function& function, std::string& missing) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr && missing.empty()) {
        missing = name;
    }
}

Functions load(const std::string& library, const Settings& settings) {
    void* handle = open_library(library, settings);
    Functions cu;
    std::string missing;
#define HEADSCOPE_LOAD(name) find(handle, #name, cu.name, missing);
    HEADSCOPE_LOAD(cuInit)
    HEADSCOPE_LOAD(cuDriverGetVersion)
    HEADSCOPE_LOAD(cuDeviceGetCount)
    HEADSCOPE_LOAD(cuDeviceGet)
    HEADSCOPE_LOAD(cuDeviceGetName)
    HEADSCOPE_LOAD(cuDeviceGetAttribute)
    HEADSCOPE_LOAD(cuDeviceTotalMem_v2)
    HEADSCOPE_LOAD(cuGetErrorName)
    HEADSCOPE_LOAD(cuGetErrorString)
#undef HEADSCOPE_LOAD
    if (!missing.empty()) {
        dlclose(handle);
        throw Error(fmt::format("{} is not an NVIDIA driver, or one older than CUDA 6: it has no {}; {}", library,
                                missing, advice_for_library(library, settings, "install a current driver")));
    }
    return cu;
}

// "CUDA_ERROR_NO_DEVICE (100), no CUDA-capable device is detected", as far as the driver knows the number.
std::string name_of(const Functions& cu, Result result) {
    const char* name = nullptr;
    const char* words = nullptr;
    if (cu.cuGetErrorName(result, &name) != kSuccess || name == nullptr) {
        return fmt::format("error {}", result);
    }
    const bool told = cu.cuGetErrorString(result, &words) == kSuccess && words != nullptr;
    return fmt::format("{} ({}){}{}", name, result, told ? ", " : "", told ? words : "");
}

// The first driver without Maxwell, Pascal and Volta is 590, for CUDA 13.1.
constexpr int kWithoutVolta = 13010;

std::string no_card(const Functions& cu, const Settings& settings) {
    if (settings.has("CUDA_VISIBLE_DEVICES")) {
        return fmt::format(
            "the NVIDIA driver shows no card while CUDA_VISIBLE_DEVICES is \"{}\": unset it, or name in it a "
            "card that nvidia-smi lists",
            settings.get("CUDA_VISIBLE_DEVICES"));
    }
    int version = 0;
    const bool newer = cu.cuDriverGetVersion(&version) == kSuccess && version >= kWithoutVolta;
    return fmt::format(
        "the NVIDIA driver is installed and finds no card: nvidia-smi should list it; in a container, give it the card "
        "(docker run --gpus all){}",
        newer ? "; for a card of Maxwell, Pascal or Volta (a P100 or V100) this driver is too new, the last one that "
                "knows them is 580"
              : "");
}

// Advice for cuInit's result.
std::string advice_for(Result result) {
    switch (result) {
        case kStubLibrary:
            return "this libcuda.so.1 is the toolkit's stub, there for linking only: take the stubs folder out of "
                   "LD_LIBRARY_PATH, or install the driver";
        case kOperatingSystem:
        case kUnknown:
            return "is the kernel's part of the driver loaded (nvidia-smi says so), and may this user open "
                   "/dev/nvidia*? "
                   "Restarting the machine helps after an update or a suspend";
        case kSystemNotReady:
            return "the machine's NVLink fabric is not up: start nvidia-fabricmanager, of the driver's very version";
        case kDriverMismatch:
            return "the driver's library and its kernel module are of different versions, as after an update: restart "
                   "the "
                   "machine";
        case kCompatNotSupported:
            return "a libcuda.so.1 of the package cuda-compat is in front of the driver's own, and this card cannot "
                   "use it: "
                   "take its folder out of LD_LIBRARY_PATH, or update the driver";
        default: return "nvidia-smi may say more; a restart or a current driver may help";
    }
}

void check(const Functions& cu, Result result, const char* call) {
    if (result != kSuccess) {
        throw Error(fmt::format("{} failed with {}", call, name_of(cu, result)));
    }
}

void initialise(const Functions& cu, const Settings& settings) {
    const Result result = cu.cuInit(0);
    if (result == kNoDevice) {
        throw Error(no_card(cu, settings));
    }
    if (result != kSuccess) {
        throw Error(fmt::format("the NVIDIA driver does not start, cuInit failed with {}: {}", name_of(cu, result),
                                advice_for(result)));
    }
}

int attribute(const Functions& cu, int device, Attribute wanted) {
    int value = 0;
    check(cu, cu.cuDeviceGetAttribute(&value, wanted, device), "cuDeviceGetAttribute");
    return value;
}

void read_card(const Functions& cu, int ordinal, Card& card) {
    int device = 0;
    check(cu, cu.cuDeviceGet(&device, ordinal), "cuDeviceGet");
    std::array<char, 256> name{};
    check(cu, cu.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device), "cuDeviceGetName");
    card.name = name.data();
    std::size_t bytes = 0;
    check(cu, cu.cuDeviceTotalMem_v2(&bytes, device), "cuDeviceTotalMem");
    card.memory_bytes = bytes;
    card.sm = kSmOfMajor * attribute(cu, device, kMajor) + attribute(cu, device, kMinor);
    card.multiprocessors = attribute(cu, device, kMultiprocessors);
    card.shared_bytes = attribute(cu, device, kSharedBytesOptIn);
    card.l2_bytes = attribute(cu, device, kL2Bytes);
    card.ecc = attribute(cu, device, kEccEnabled) != 0;
    card.prohibited = attribute(cu, device, kComputeMode) == kProhibited;
}

}  // namespace

Driver::Driver(const std::string& library, const Settings& settings) {
    const Functions cu = load(library, settings);
    initialise(cu, settings);
    check(cu, cu.cuDriverGetVersion(&version_), "cuDriverGetVersion");
    int count = 0;
    check(cu, cu.cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (count == 0) {
        throw Error(no_card(cu, settings));
    }
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        Card card;
        try {
            read_card(cu, ordinal, card);
        } catch (const Error& error) {
            card.failure = error.what();
        }
        cards_.push_back(card);
    }
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace headscope::cuda
