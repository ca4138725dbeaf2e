// Writes numpy's .npy: one array, row-major.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/atomic_file.h"

namespace headscope {

// What stands before the values: `type` is numpy's ("<f4"), `shape` a tuple ("(3, 4)").
std::string npy_header(const std::string& type, const std::string& shape);

// Rows of F32 whose number is known only at the end: [rows, columns]. They are written as they come; the file at `path`
// appears or changes with commit().
class NpyRows {
public:
    NpyRows(const std::string& path, std::int64_t columns);

    // Whole rows.
    void add(std::span<const float> values);
    void commit();
    std::int64_t rows() const { return rows_; }

private:
    std::string header() const;

    AtomicFile file_;
    const std::int64_t columns_;
    std::int64_t rows_ = 0;
};

}  // namespace headscope
