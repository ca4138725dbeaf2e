// headscope attention --class-token: the token from whose last state a classifier reads the class of a text.
#pragma once

#include <string>

#include "cli/look/attention_options.h"
#include "engine/work.h"

namespace headscope {

// Chooses that token, which is the first one. UsageError for a model that reads its classes or its number elsewhere, or
// has none.
void choose_class_token(AttentionSelection& selection, const ModelDirectory& model);

// "Class: good, probability 0.981.", or "Score: 1.234." of a model with a number.
std::string class_sentence(const Place& place, const std::string& text);

}  // namespace headscope
