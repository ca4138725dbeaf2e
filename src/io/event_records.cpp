#include "io/event_records.h"

#include <bit>

#include "io/crc32c.h"

namespace headscope {

namespace {

// Numbers of fields, as the .proto files give them.
enum EventField : std::uint8_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7 };
constexpr std::uint8_t kSummaryValue = 1;                       // Summary
enum ValueField : std::uint8_t { kTag = 1, kSimpleValue = 2 };  // Summary.Value
constexpr std::uint8_t kSessionStatus = 1;                      // SessionLog
constexpr std::uint64_t kSessionStart = 1;                      // SessionLog.SessionStatus.START

// How a field's bytes are to be read.
enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

void append_varint(std::string& to, std::uint64_t value) {
    while (value >= 0x80) {
        to += static_cast<char>((value & 0x7FU) | 0x80U);
        value >>= 7U;
    }
    to += static_cast<char>(value);
}

void append_little_endian(std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
        to += static_cast<char>((value >> (8U * static_cast<unsigned>(i))) & 0xFFU);
    }
}

void append_key(std::string& to, std::uint8_t field, Wire wire) {
    append_varint(to, static_cast<std::uint64_t>(field) << 3U | static_cast<std::uint64_t>(wire));
}

void append_bytes(std::string& to, std::uint8_t field, std::string_view bytes) {
    append_key(to, field, Wire::Bytes);
    append_varint(to, bytes.size());
    to += bytes;
}

std::string event(double wall_time, std::int64_t step) {
    std::string bytes;
    append_key(bytes, kWallTime, Wire::Fixed64);
    append_little_endian(bytes, std::bit_cast<std::uint64_t>(wall_time), 8);
    if (step != 0) {  // a number that is 0 is left out
        append_key(bytes, kStep, Wire::Varint);
        append_varint(bytes, static_cast<std::uint64_t>(step));
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
    append_key(session, kSessionStatus, Wire::Varint);
    append_varint(session, kSessionStart);
    std::string bytes = event(wall_time, step);
    append_bytes(bytes, kSessionLog, session);
    return bytes;
}

std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag, double value) {
    std::string one;
    append_bytes(one, kTag, tag);
    append_key(one, kSimpleValue, Wire::Fixed32);
    append_little_endian(one, std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
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
