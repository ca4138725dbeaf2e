// Writes a model in the format of another program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model_directory.h"

namespace headscope {

enum class ExportFormat : std::uint8_t { HuggingFace, CTranslate2, Marian };

// Writes `folder`, which must not exist or be empty. Error, without changes on disk, that lists everything about the
// model that the format cannot hold.
void export_model(const ModelDirectory& model, const Parameters& parameters, ExportFormat format,
                  const std::string& folder);

// The author's decoding options that the format has no place for, one remark each.
std::vector<std::string> options_left_out(const ModelDirectory& model, ExportFormat format);

}  // namespace headscope
