// Sizes that several drawings have in common, in units of the text size.
#pragma once

namespace headscope {

constexpr double kMargin = 1.0;
constexpr double kSmall = 0.85;         // the size of notes and numbers
constexpr double kBold = 1.12;          // the width of bold text beside usual text
constexpr double kLongestLabel = 14.0;  // longer ones are cut
constexpr double kBarHeight = 1.3;
constexpr double kBarPitch = 1.7;

}  // namespace headscope
