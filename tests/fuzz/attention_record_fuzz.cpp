// Any bytes as an attention record in JSON: refused with an Error, or a record that is the same when it is written and
// read again, and of which everything can be computed.
#include <nlohmann/json.hpp>

#include "observe/derived_records.h"
#include "observe/head_statistics.h"
#include "observe/record_json.h"
#include "tests/fuzz/fuzz.h"

using namespace headscope;

std::vector<std::string> headscope::fuzz_seeds() {
    AttentionRecord record;
    record.encoder_layers = record.decoder_layers = 1;
    record.source = {{"\u2581a", TokenKind::Piece}, {"<EOS>", TokenKind::End}, {"<pad>", TokenKind::Pad}};
    record.target_in = {{"<BOS>", TokenKind::Begin}, {"\u2581x", TokenKind::Unknown}};
    record.target_out = {{"\u2581x", TokenKind::Unknown}, {"<EOS>", TokenKind::End}};
    record.sites.push_back({{AttentionKind::EncoderSelf, 0}, 1, 3, 3, {0.5F, 0.5F, 0, 0, 1, 0, 0.25F, 0.75F, 0}});
    record.sites.push_back({{AttentionKind::DecoderSelf, 0}, 1, 2, 2, {1, 0, 0.5F, 0.5F}});
    record.sites.push_back({{AttentionKind::Cross, 0}, 1, 2, 3, {1, 0, 0, 0.5F, 0.5F, 0}});
    AttentionRecord empty;
    AttentionRecord causal;
    causal.target_in = record.target_in;
    causal.target_out = {record.target_out[0]};
    causal.decoder_layers = 1;
    causal.family = Architecture::CausalLm;
    causal.sites.push_back(record.sites[1]);
    AttentionRecord masked;
    masked.source = {{"<BOS>", TokenKind::Begin}, {"[MASK]", TokenKind::Mask}};
    masked.encoder_layers = 1;
    masked.family = Architecture::MaskedLm;
    masked.sites.push_back({{AttentionKind::EncoderSelf, 0}, 1, 2, 2, {1, 0, 0.5F, 0.5F}});
    return {to_json(record), to_json(empty), to_json(causal), to_json(masked)};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const AttentionRecord record = record_from_json(std::string(as_text(data, size)), "fuzz");
        const std::string written = to_json(record);
        HEADSCOPE_CHECK(to_json(record_from_json(written, "again")) == written, "a record that changes when written");
        head_statistics(record);
        mean_of_heads(record);
        difference(record, record);
        rollout(record);
    } catch (const Error&) {
    }
    return 0;
}
