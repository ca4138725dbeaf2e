// Any bytes as an .npz file, and as an array in a valid one, stored and deflated: refused with an Error, or every array
// can be read.
#include "tests/fuzz/archive.h"
#include "tests/io/zip_writer.h"

using namespace headscope;

namespace {

std::string array(const std::string& descr, const std::string& order, const std::string& shape, std::size_t bytes) {
    const std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    return "\x93NUMPY\x01" + std::string(1, '\0') + static_cast<char>(header.size()) + std::string(1, '\0') + header +
           std::string(bytes, 'x');
}

}  // namespace

std::vector<std::string> headscope::fuzz_seeds() {
    const std::string rows = array("<f4", "False", "(2, 3)", 24);
    const std::string columns = array(">f8", "True", "(2, 3)", 48);
    const std::string text = array("|i1", "False", "(5,)", 5);
    return {rows, columns, text, zip_of({{"a.npy", rows}, {"b.npy", columns, true}, {"special:model.yml.npy", text}}),
            zip_of({{"a.npy", rows, false, true}, {"b.npy", array("<i8", "False", "()", 8), true, true}}, true)};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(as_text(data, size));
    read_archive(without_checksums(bytes), open_npz_archive);
    read_archive(zip_of({{"a.npy", bytes}, {"b.npy", bytes, true}, {"special:a.npy", bytes}}), open_npz_archive);
    return 0;
}
