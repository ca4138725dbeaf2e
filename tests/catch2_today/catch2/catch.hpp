// The one header of Catch2 v2, which the tests are written for, in the parts and names of v3.
#pragma once

#include <string>

#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch {
namespace Matchers {
// By value: as good a match as the one of v3, which looks for an element of a range.
inline auto Contains(std::string text) { return ContainsSubstring(text); }
inline auto Contains(const char* text) { return ContainsSubstring(text); }
}  // namespace Matchers
using Matchers::Contains;
using Matchers::EndsWith;
using Matchers::Matches;
using Matchers::Message;
using Matchers::StartsWith;
}  // namespace Catch
