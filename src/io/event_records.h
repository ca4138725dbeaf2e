// Records of TensorBoard event files: the messages Event, Summary and SessionLog of TensorFlow's event.proto and
// summary.proto in the Protocol Buffers wire format, as far as scalars need them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope {

// Wall times are seconds since 1970.

// The first event of every file: the format's version.
std::string version_event(double wall_time);
// A run resumes: readers discard earlier events of this step and later ones.
std::string restart_event(double wall_time, std::int64_t step);
// The value is stored as a float.
std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag, double value);

// Frames an event as a record: its length (64 bits), the length's checksum, the event, its checksum.
std::string event_record(std::string_view event);

}  // namespace headscope
