#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "io/archive_shards.h"
#include "io/byte_reader.h"
#include "io/mapped_file.h"
#include "io/pickle_reader.h"
#include "io/pickle_tensors.h"
#include "io/safetensors_header.h"
#include "io/tensor_archive.h"
#include "io/zip_reader.h"
#include "support/check.h"

namespace headscope {

namespace {

using Kind = PickleKind;

constexpr std::string_view kLegacyMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);

// The part of a storage from the tensor's first element on.
std::span<const std::byte> from_offset(std::span<const std::byte> storage, const StoredTensor& tensor,
                                       std::int64_t offset) {
    const std::size_t size = safetensors_bits(tensor.dtype) / 8;
    if (std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) {
        return {};  // may begin anywhere
    }
    if (size != 0 && static_cast<std::uint64_t>(offset) > storage.size() / size) {
        throw PickleError(fmt::format("tensor '{}' begins after the end of its storage", tensor.name));
    }
    return storage.subspan(static_cast<std::size_t>(offset) * size);
}

// The number of bytes that a storage claims.
std::uint64_t claimed_bytes(const PickleValue& storage) {
    const std::uint64_t size = storage.name.empty() ? 1 : safetensors_bits(std::string(storage.name)) / 8;
    std::uint64_t bytes = 0;
    if (storage.integer < 0 || __builtin_mul_overflow(static_cast<std::uint64_t>(storage.integer), size, &bytes)) {
        throw PickleError(fmt::format("the storage '{}' has a size that is not valid", storage.text));
    }
    return bytes;
}

// ---- zip: NAME/data.pkl, NAME/data/KEY for each storage, NAME/byteorder

std::string folder_of_pickle(const ZipReader& zip) {
    constexpr std::string_view kPickle = "/data.pkl";
    for (const ZipEntry& entry : zip.entries()) {
        if (entry.name.find("/code/__torch__") != std::string::npos) {
            throw PickleError("it is a TorchScript program; save the state_dict of its model instead");
        }
    }
    for (const ZipEntry& entry : zip.entries()) {
        if (entry.name.ends_with(kPickle)) {
            return entry.name.substr(0, entry.name.size() - kPickle.size() + 1);
        }
    }
    throw PickleError("it is a zip archive without data.pkl, which torch.save writes");
}

bool is_big_endian(const ZipReader& zip, const std::string& folder) {
    const ZipEntry* order = zip.find(folder + "byteorder");
    if (order == nullptr) {
        return false;
    }
    const HeldBytes held = zip.read(*order);
    const std::string_view text = as_text(held.bytes);
    if (text != "little" && text != "big") {
        throw PickleError("its byteorder is neither \"little\" nor \"big\"");
    }
    return text == "big";
}

TensorArchive open_zip(const std::string& path, const std::shared_ptr<const MappedFile>& file) {
    const ZipReader zip(path, file);
    const std::string folder = folder_of_pickle(zip);
    const bool big_endian = is_big_endian(zip, folder);
    const auto locate = [&](StoredTensor& tensor, const PickleValue& value) {
        const PickleValue& storage = *value.of;
        const ZipEntry* entry = zip.find(fmt::format("{}data/{}", folder, storage.text));
        if (entry == nullptr || entry->size < claimed_bytes(storage)) {
            throw PickleError(fmt::format("the data of tensor '{}' is {}: '{}data/{}'", tensor.name,
                                          entry == nullptr ? "missing" : "truncated", folder, storage.text));
        }
        tensor.big_endian = big_endian;
        if (!entry->deflated) {
            tensor.data = zip.map(*entry);
            tensor.data.bytes = from_offset(tensor.data.bytes, tensor, value.offset);
            return;
        }
        tensor.unpack = [zip, entry, tensor, offset = value.offset] {
            HeldBytes held = zip.read(*entry);
            held.bytes = from_offset(held.bytes, tensor, offset);
            return held;
        };
    };
    const HeldBytes pickle = zip.read(*zip.find(folder + "data.pkl"));
    ByteReader reader(pickle.bytes);
    PickleArena arena;
    PickleContents contents = pickle_contents(read_pickle(reader, arena), path, locate);
    return {path, std::move(contents.tensors), std::move(contents.objects)};
}

// ---- legacy: pickles of a magic number, a protocol, the system, the object and the storages' keys, then the storages

void require_little_endian(const PickleValue& system) {
    const std::vector<const PickleValue*>& items = system.items;
    for (std::size_t item = 0; system.kind == Kind::Dict && item + 1 < items.size(); item += 2) {
        if (items[item]->text == "little_endian" && items[item + 1]->integer == 0) {
            throw PickleError("it was written on a big-endian machine: save it again in PyTorch 1.6 or newer");
        }
    }
}

// Their data, which follows the pickles in the order of `keys`, each after its number of elements.
std::unordered_map<std::string_view, std::span<const std::byte>> storages_of(const PickleArena& arena,
                                                                             const PickleValue& keys,
                                                                             ByteReader& reader) {
    std::unordered_map<std::string_view, const PickleValue*> declared;
    for (const PickleValue& value : arena.values()) {
        if (value.kind == Kind::Storage) {
            const PickleValue& first = *declared.emplace(value.text, &value).first->second;
            if (first.name != value.name || first.integer != value.integer) {
                throw PickleError(fmt::format("the storage '{}' is declared with two sizes", value.text));
            }
        }
    }
    std::unordered_map<std::string_view, std::span<const std::byte>> storages;
    for (const PickleValue* key : keys.items) {
        const auto found = declared.find(key->text);
        if (found == declared.end()) {
            throw PickleError(fmt::format("the storage '{}' belongs to no tensor", key->text));
        }
        const PickleValue& storage = *found->second;
        if (const auto elements = reader.number<std::uint64_t>(); std::cmp_not_equal(elements, storage.integer)) {
            throw PickleError(
                fmt::format("the storage '{}' has {} elements, expected {}", storage.text, elements, storage.integer));
        }
        storages[key->text] = reader.take(claimed_bytes(storage));
    }
    return storages;
}

TensorArchive open_legacy(const std::string& path, const std::shared_ptr<const MappedFile>& file) {
    constexpr std::int64_t kProtocol = 1001;
    ByteReader reader(file->bytes());
    PickleArena arena;
    read_pickle(reader, arena);  // the magic number
    if (const PickleValue& protocol = read_pickle(reader, arena); protocol.integer != kProtocol) {
        throw PickleError(fmt::format("its legacy format is {}, expected {}", protocol.integer, kProtocol));
    }
    require_little_endian(read_pickle(reader, arena));
    const PickleValue& root = read_pickle(reader, arena);
    const PickleValue& keys = read_pickle(reader, arena);
    const auto storages = storages_of(arena, keys, reader);
    PickleContents contents = pickle_contents(root, path, [&](StoredTensor& tensor, const PickleValue& value) {
        const auto found = storages.find(value.of->text);
        if (found == storages.end()) {
            throw PickleError(fmt::format("the data of tensor '{}' is missing", tensor.name));
        }
        tensor.data = {from_offset(found->second, tensor, value.offset), file};
    });
    return {path, std::move(contents.tensors), std::move(contents.objects)};
}

}  // namespace

TensorArchive open_pickle_archive(const std::string& path) {
    if (is_shard_index(path)) {
        return open_shards(path, open_pickle_archive);
    }
    const auto file = std::make_shared<const MappedFile>(path);
    constexpr std::size_t kBeginning = 32;
    const std::string_view beginning = as_text(file->bytes()).substr(0, kBeginning);
    try {
        if (ZipReader::is_zip(file->bytes())) {
            return open_zip(path, file);
        }
        if (beginning.find(kLegacyMagic) != std::string_view::npos) {
            return open_legacy(path, file);
        }
        throw PickleError("it does not begin as torch.save begins its files");
    } catch (const PickleError& error) {
        throw Error(fmt::format("'{}' cannot be read as a PyTorch file: {}", path, error.what()));
    } catch (const TruncatedError& error) {
        throw Error(fmt::format("'{}' cannot be read as a PyTorch file: {}", path, error.what()));
    }
}

}  // namespace headscope
