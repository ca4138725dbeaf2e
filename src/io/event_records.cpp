#include "io/event_records.h"

#include "io/crc32c.h"
#include "io/proto_wire.h"

namespace headscope {

namespace {

// Numbers of fields, as the .proto files give them.
enum EventField : std::uint8_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7 };
constexpr std::uint8_t kSummaryValue = 1;                       // Summary
enum ValueField : std::uint8_t { kTag = 1, kSimpleValue = 2 };  // Summary.Value
constexpr std::uint8_t kSessionStatus = 1;                      // SessionLog
constexpr std::uint64_t kSessionStart = 1;                      // SessionLog.SessionStatus.START

std::string event(double wall_time, std::int64_t step) {
    std::string bytes;
    append_double(bytes, kWallTime, wall_time);
    if (step != 0) {  // zero is the default and is omitted
        append_varint(bytes, kStep, static_cast<std::uint64_t>(step));
    }
    return bytes;
}

}  // namespace

std::string version_event(double wall_time) {
    std::string bytes = event(wall_time, 0);
    append_bytes(bytes, kFileVersion, "brain.Event:2");
    return bytes;
}

std::string restart_event(double wall_time, std::int64_t step) {
    std::string session;
    append_varint(session, kSessionStatus, kSessionStart);
    std::string bytes = event(wall_time, step);
    append_bytes(bytes, kSessionLog, session);
    return bytes;
}

std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag, double value) {
    std::string one;
    append_bytes(one, kTag, tag);
    append_float(one, kSimpleValue, static_cast<float>(value));
    std::string summary;
    append_bytes(summary, kSummaryValue, one);
    std::string bytes = event(wall_time, step);
    append_bytes(bytes, kSummary, summary);
    return bytes;
}

std::string event_record(std::string_view event) {
    std::string record;
    append_little_endian(record, event.size(), 8);
    append_little_endian(record, masked_crc32c(record), 4);
    record += event;
    append_little_endian(record, masked_crc32c(event), 4);
    return record;
}

}  // namespace headscope
