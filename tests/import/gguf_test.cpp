// GGUF files: what their keys become, and which are refused. tests/import/models has some with answers.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backend/precision.h"
#include "import/open_model.h"
#include "model/model_chat.h"
#include "registry/registry.h"
#include "tests/import/tiny_llama.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Ids = std::vector<std::int32_t>;
constexpr const char* kTypes = "tokenizer.ggml.token_type";

template <class Change>
std::string llama_complaint(const Change& change) {
    const TemporaryFolder folder;
    TinyLlama llama;
    change(llama);
    const std::string path = folder.write("tiny.gguf", llama.file());
    const std::string message = error_of([&] { open_model(path).weights->read({}, {}); });
    CHECK_THAT(message, Contains("tiny.gguf"));
    return message;
}

// Those that are held in blocks are so in these forms, and stand for the same numbers.
void check_forms(const Parameters& held, const Parameters& numbers, const std::map<std::string, BlockForm>& forms) {
    for (const ParameterSpec& spec : numbers.table()) {
        INFO(spec.name);
        const auto found = forms.find(spec.name);
        CHECK(held.block_form(spec.name) == (found == forms.end() ? BlockForm{} : found->second));
        CHECK(numbers.block_form(spec.name) == BlockForm{});
        CHECK(held.values_of(spec.name) == numbers.values_of(spec.name));
    }
}

}  // namespace

TEST_CASE("a GGUF file's texts end with a turn and a message, too", "[gguf]") {
    const TemporaryFolder folder;
    TinyLlama llama;
    CHECK(open_model(folder.write("one.gguf", llama.file())).decoding == nullptr);
    llama.numbers["tokenizer.ggml.eot_token_id"] = 3;
    llama.numbers["tokenizer.ggml.eom_token_id"] = 1;
    const ModelDirectory model = open_model(folder.write("two.gguf", llama.file()));
    REQUIRE(model.decoding != nullptr);
    CHECK(model.decoding->at("ends").get<Ids>() == Ids{1, 3});
}

TEST_CASE("a GGUF file's chat template is known by its Jinja source", "[gguf][chat]") {
    const TemporaryFolder folder;
    TinyLlama llama;
    llama.texts["tokenizer.chat_template"] = "{{ bos_token }}{{ messages }}";
    const ModelDirectory unknown = open_model(folder.write("unknown.gguf", llama.file()));
    CHECK(unknown.remarks.empty());
    CHECK_THAT(error_of([&] { chat_encoder(unknown); }),
               Contains("unknown.gguf has a chat template that is unknown here") &&
                   Contains("It is:\n{{ bos_token }}{{ messages }}"));
    llama.texts["tokenizer.chat_template"] =
        "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>'}}"
        "{% endfor %}";
    const ModelDirectory known = open_model(folder.write("known.gguf", llama.file()));
    REQUIRE(known.decoding != nullptr);
    CHECK(known.decoding->at("chat") == "chatml");
    CHECK_THAT(error_of([&] { chat_encoder(known); }),
               Contains("known.gguf lacks <|im_start|>, <|im_end|> of the chat template chatml"));
    llama.texts.erase("tokenizer.chat_template");
    const ModelDirectory none = open_model(folder.write("none.gguf", llama.file()));
    CHECK_THAT(error_of([&] { chat_encoder(none); }), Contains("none.gguf has no chat template: it continues texts"));
    CHECK_THAT(error_of([&] { chat_encoder(none, "olmo"); }),
               Contains("lacks <|endoftext|> of the chat template olmo"));
}

TEST_CASE("what Gemma's GGUF files leave out", "[gguf]") {
    const TemporaryFolder folder;
    TinyLlama gemma;
    const auto rename = [](auto& keys) {
        for (const auto& [key, value] : std::map(keys)) {
            if (key.starts_with("llama.")) {
                keys.erase(key);
                keys["gemma3." + key.substr(6)] = value;
            }
        }
    };
    rename(gemma.numbers);
    rename(gemma.floats);
    gemma.texts["general.architecture"] = "gemma3";
    gemma.numbers["gemma3.block_count"] = 62;
    gemma.numbers["gemma3.attention.sliding_window"] = 4;
    gemma.floats["gemma3.rope.freq_base"] = 1e6F;
    const ModelConfig largest = open_model(folder.write("tiny.gguf", gemma.file())).config;
    CHECK(largest.norm.placement == NormPlacement::Sandwich);
    CHECK(largest.attention.query_key_norm == QueryKeyNorm::Head);
    CHECK(largest.attention.scale == 0.5);  // of 8 columns and two heads
    CHECK(largest.embedding.scale);
    CHECK(largest.feed_forward.activation == Activation::GeluTanh);
    CHECK(largest.positions.rotary.base == 1e6);
    CHECK(largest.positions.rotary.window_base == 10000.0);
    CHECK(largest.mixer.window == 4);
    const Ids pattern(largest.mixer.window_pattern.begin(), largest.mixer.window_pattern.begin() + 7);
    CHECK(pattern == Ids{1, 1, 1, 1, 1, 0, 1});
    gemma.numbers["gemma3.block_count"] = 26;
    CHECK(open_model(folder.write("tiny.gguf", gemma.file())).config.attention.scale == 0.0);
    gemma.floats["gemma3.final_logit_softcapping"] = 30.0F;
    CHECK_THAT(error_of([&] { open_model(folder.write("tiny.gguf", gemma.file())); }),
               Contains("\"gemma3.final_logit_softcapping\" is 30"));
    gemma.numbers.erase("gemma3.attention.sliding_window");
    CHECK_THAT(error_of([&] { open_model(folder.write("tiny.gguf", gemma.file())); }),
               Contains("\"gemma3.attention.sliding_window\""));
}

TEST_CASE("keys of a GGUF file become a configuration and a tokenizer", "[gguf]") {
    const TemporaryFolder folder;
    TinyLlama llama;
    llama.texts["llama.unheard_of"] = "x";
    llama.texts["general.name"] = "tiny";
    const std::string path = folder.write("tiny.gguf", llama.file());
    CHECK(format_of(path) == ModelFormat::Gguf);
    const ModelDirectory model = open_model(folder.file(""));  // the only one of its folder
    CHECK(model.config.attention.heads == 2);
    CHECK(model.config.attention.kv_heads == 1);
    CHECK(model.config.attention.d_k == 4);
    CHECK(model.config.positions.rotary.kind == Rotary::Plain);
    CHECK(model.config.embedding.tying == Tying::All);
    CHECK(model.config.frame.bos_id == 0);
    CHECK(model.config.frame.eos_id == 1);
    REQUIRE(model.remarks.size() == 1);
    CHECK_THAT(model.remarks.front(), Contains("\"llama.unheard_of\"") && !Contains("general.name"));
    const Tokenizer& tokenizer = *model.target_tokenizer;
    CHECK(tokenizer.encode("abba</s> a") == Ids{5, 3, 2, 1, 4, 2});
    CHECK(tokenizer.vocabulary().piece(6).kind == PieceKind::Unused);
    TinyLlama projector;
    projector.texts["general.type"] = "mmproj";
    folder.write("mmproj.gguf", projector.file());
    CHECK(open_model(folder.file("")).path == path);
    folder.write("other.gguf", llama.file());
    CHECK_THAT(error_of([&] { open_model(folder.file("")); }), Contains("holds several checkpoints or models"));
}

TEST_CASE("quantised weights of a GGUF file stay in blocks, or it says that they do not", "[gguf][blocks]") {
    constexpr std::uint32_t kQ4_0 = 2, kQ4_1 = 3, kQ8_0 = 8, kQ2_K = 10, kQ3_K = 11, kQ4_K = 12, kQ5_K = 13, kQ6_K = 14;
    constexpr std::uint32_t kIq4_nl = 20;
    const TemporaryFolder folder;
    TinyLlama llama = TinyLlama::wide();
    llama.types = {{"token_embd.weight", kQ8_0},    {"blk.0.attn_q.weight", kQ4_1}, {"blk.0.attn_k.weight", kQ8_0},
                   {"blk.0.attn_v.weight", kQ4_0},  {"blk.0.ffn_up.weight", kQ4_0}, {"blk.0.ffn_gate.weight", kIq4_nl},
                   {"blk.0.ffn_down.weight", kQ4_1}};
    const ModelDirectory model = open_model(folder.write("tiny.gguf", llama.file()));
    CHECK(model.remarks.empty());
    const std::unique_ptr<Backend> backend = open_device("cpu");
    const auto numbers = read_parameters(*backend, model, DType::F32);
    const auto held = read_parameters(*backend, model, Arithmetic().weights());
    const std::string layer = "decoder.layers.0.";
    const BlockForm four{.bits = 4};
    const BlockForm eight{.bits = 8};
    check_forms(*held, *numbers,
                {{"embedding.weight", eight},
                 {layer + "self_attention.q.weight", eight},  // of 4, beside 8
                 {layer + "self_attention.k.weight", eight},
                 {layer + "self_attention.v.weight", eight},
                 {layer + "feed_forward.gate.weight", eight},
                 {layer + "feed_forward.inner.weight", four},
                 {layer + "feed_forward.outer.weight", four}});
    const auto all = read_parameters(*backend, model, Arithmetic{.weights_alone = true, .block_bits = 8}.weights());
    CHECK(all->block_form(layer + "self_attention.output.weight").bits == 8);
    CHECK(all->values_of("embedding.weight") == numbers->values_of("embedding.weight"));

    llama.types = {{"token_embd.weight", kQ6_K},    {"blk.0.attn_q.weight", kQ4_K}, {"blk.0.attn_k.weight", kQ6_K},
                   {"blk.0.attn_v.weight", kQ8_0},  {"blk.0.ffn_up.weight", kQ2_K}, {"blk.0.ffn_gate.weight", kQ3_K},
                   {"blk.0.ffn_down.weight", kQ5_K}};
    const ModelDirectory large = open_model(folder.write("large.gguf", llama.file()));
    const BlockForm four_factors{.bits = 4, .factors = true};
    const BlockForm eight_factors{.bits = 8, .factors = true};
    check_forms(*read_parameters(*backend, large, Arithmetic().weights()),
                *read_parameters(*backend, large, DType::F32),
                {{"embedding.weight", eight_factors},
                 {layer + "self_attention.q.weight", eight_factors},
                 {layer + "self_attention.k.weight", eight_factors},
                 {layer + "self_attention.v.weight", eight_factors},
                 {layer + "feed_forward.gate.weight", four_factors},
                 {layer + "feed_forward.inner.weight", four_factors},
                 {layer + "feed_forward.outer.weight", eight_factors}});
    llama.types = {{"blk.0.attn_q.weight", kQ4_1}};
    CHECK_THAT(open_model(folder.write("tiny.gguf", llama.file())).remarks.front(), Contains("1 of 1 quantised"));
}

TEST_CASE("SentencePiece vocabularies of GGUF files split texts as their library does", "[gguf]") {
    const TemporaryFolder folder;
    TinyLlama llama;
    llama.texts["tokenizer.ggml.model"] = "llama";
    llama.texts.erase("tokenizer.ggml.pre");
    llama.numbers["tokenizer.ggml.unknown_token_id"] = 2;
    llama.pieces = {"<s>", "</s>", "<unk>", "\u2581", "a", "\u2581a", "<0x61>"};
    llama.number_lists[kTypes] = {3, 3, 2, 1, 1, 1, 6};
    for (const bool adds_space : {true, false}) {
        llama.flags["tokenizer.ggml.add_space_prefix"] = adds_space;
        const ModelDirectory model = open_model(folder.write("tiny.gguf", llama.file()));
        CHECK(model.config.frame.bos_id == 0);  // unless the file says otherwise
        CHECK(model.target_tokenizer->encode("aa a") == (adds_space ? Ids{5, 4, 5} : Ids{4, 4, 5}));
        CHECK(model.target_tokenizer->encode("</s>") == Ids{1});
        CHECK(model.target_tokenizer->vocabulary().piece(6).kind == PieceKind::Unused);  // one byte of 256
        CHECK(model.target_tokenizer->decode({5, 4, 1}) == (adds_space ? "aa" : " aa"));
    }
    llama.pieces.back() = "  ";  // the file writes the spaces of a user-defined piece as they are
    llama.number_lists[kTypes].back() = 4;
    const std::shared_ptr<const Tokenizer> runs = open_model(folder.write("tiny.gguf", llama.file())).target_tokenizer;
    CHECK(runs->encode("a  a") == Ids{4, 6, 4});
    CHECK(runs->decode({4, 6, 4}) == "a  a");
    llama.number_lists[kTypes] = {3, 3, 3, 1, 1, 1, 6};  // Gemma 3's files call the unknown piece a control piece
    CHECK(open_model(folder.write("tiny.gguf", llama.file())).config.frame.unk_id == 2);
    llama.pieces = {"<unk>", "<s>", "</s>", "\u2581", "a", "\u2581a", "<0x61>"};
    llama.number_lists[kTypes] = {2, 3, 3, 1, 1, 1, 6};
    for (const char* key : {"bos_token_id", "eos_token_id", "unknown_token_id"}) {
        llama.numbers.erase(std::string("tokenizer.ggml.") + key);
    }
    const FrameConfig usual = open_model(folder.write("tiny.gguf", llama.file())).config.frame;
    CHECK(usual.unk_id == 0);
    CHECK(usual.bos_id == 1);
    CHECK(usual.eos_id == 2);
    llama.flags["tokenizer.ggml.add_bos_token"] = false;
    CHECK(open_model(folder.write("tiny.gguf", llama.file())).config.frame.bos_id == -1);
}

TEST_CASE("numbers of a GGUF file may be lists of one for each layer", "[gguf]") {
    const auto with_list = [](const std::string& key, const std::vector<std::uint32_t>& values) {
        TinyLlama llama;
        llama.numbers.erase(key);
        llama.number_lists[key] = values;
        return llama;
    };
    const TemporaryFolder folder;
    const TinyLlama llama = with_list("llama.attention.head_count", {2});
    CHECK(open_model(folder.write("tiny.gguf", llama.file())).config.attention.heads == 2);
    for (const char* end : {"feed_forward_length", "attention.head_count", "attention.head_count_kv"}) {
        const std::string key = std::string("llama.") + end;
        const auto complaint = [&](const std::vector<std::uint32_t>& values) {
            return llama_complaint([&](TinyLlama& changed) { changed = with_list(key, values); });
        };
        CHECK_THAT(complaint({0}), Contains("\"" + key + "\" must be an integer from 1"));
        CHECK_THAT(complaint({UINT32_MAX}), Contains("\"" + key + "\" must be an integer from 1"));
        CHECK_THAT(complaint({}), Contains("\"" + key + "\" has 0 numbers for 1 layers"));
    }
    CHECK_THAT(llama_complaint([&](TinyLlama& changed) {
                   changed = with_list("llama.feed_forward_length", {4, 5});
                   changed.numbers["llama.block_count"] = 2;
               }),
               Contains("\"llama.feed_forward_length\" differs between layers"));
}

TEST_CASE("keys that every GGUF model needs are reported when they are missing", "[gguf]") {
    for (const char* end : {"block_count", "context_length", "embedding_length", "feed_forward_length",
                            "attention.head_count", "attention.layer_norm_rms_epsilon"}) {
        const std::string key = std::string("llama.") + end;
        const std::string message = llama_complaint([&](TinyLlama& llama) {
            llama.numbers.erase(key);
            llama.floats.erase(key);
        });
        CHECK_THAT(message, Contains("\"" + key + "\" is missing"));
    }
    CHECK_THAT(llama_complaint([](TinyLlama& llama) { llama.numbers.erase("tokenizer.ggml.bos_token_id"); }),
               Contains("\"tokenizer.ggml.bos_token_id\" names no piece"));
    const TemporaryFolder folder;
    TinyLlama ungrouped;
    ungrouped.numbers.erase("llama.attention.head_count_kv");
    CHECK(open_model(folder.write("tiny.gguf", ungrouped.file())).config.attention.kv_heads == 2);
}

TEST_CASE("rotary positions of a GGUF file are scaled linearly unless it names a kind", "[gguf]") {
    const auto rotary = [](const char* type, float factor) {
        const TemporaryFolder folder;
        TinyLlama llama;
        if (type != nullptr) {
            llama.texts["llama.rope.scaling.type"] = type;
        }
        llama.floats["llama.rope.scaling.factor"] = factor;
        return open_model(folder.write("tiny.gguf", llama.file())).config.positions.rotary;
    };
    CHECK(rotary("none", 4.0F).kind == Rotary::Plain);
    CHECK(rotary(nullptr, 0.0F).kind == Rotary::Plain);
    CHECK(rotary(nullptr, 1.0F).kind == Rotary::Plain);
    for (const char* type : {static_cast<const char*>(nullptr), "linear"}) {
        CHECK(rotary(type, 4.0F).kind == Rotary::Linear);
        CHECK(rotary(type, 4.0F).factor == 4.0);
    }
}

TEST_CASE("biases of a GGUF file's attention are read if it has them", "[gguf]") {
    const TemporaryFolder folder;
    TinyLlama llama;
    CHECK_FALSE(open_model(folder.write("tiny.gguf", llama.file())).config.attention.bias);
    llama.tensors["blk.0.attn_q.bias"] = {8};
    llama.tensors["blk.0.attn_k.bias"] = llama.tensors["blk.0.attn_v.bias"] = {4};
    const AttentionConfig inputs = open_model(folder.write("tiny.gguf", llama.file())).config.attention;
    CHECK(inputs.bias);
    CHECK_FALSE(inputs.output_bias);
    llama.tensors["blk.0.attn_output.bias"] = {8};
    CHECK(open_model(folder.write("tiny.gguf", llama.file())).config.attention.output_bias);
}

TEST_CASE("GGUF files that cannot be represented are refused by key", "[gguf]") {
    const auto with_text = [](const char* key, const char* value) {
        return llama_complaint([&](TinyLlama& llama) { llama.texts[key] = value; });
    };
    const auto with_number = [](const char* key, std::uint32_t value) {
        return llama_complaint([&](TinyLlama& llama) { llama.numbers[key] = value; });
    };
    CHECK_THAT(with_text("general.architecture", "mamba"), Contains("\"mamba\"; supported are llama, qwen2"));
    CHECK_THAT(with_text("general.type", "adapter"), Contains("holds an adapter"));
    CHECK_THAT(with_text("general.architecture", "clip"), Contains("holds a projector of images"));
    CHECK_THAT(with_text("tokenizer.ggml.pre", "unheard-of"),
               Contains("\"tokenizer.ggml.pre\"") && Contains("is \"unheard-of\"; known are gpt-2, llama-bpe"));
    CHECK_THAT(llama_complaint([](TinyLlama& llama) { llama.texts.erase("tokenizer.ggml.pre"); }),
               Contains("\"tokenizer.ggml.pre\"") && Contains("is missing; known are"));
    CHECK_THAT(with_text("tokenizer.ggml.model", "rwkv"), Contains("supported are gpt2 and llama"));
    CHECK_THAT(with_text("llama.rope.scaling.type", "longrope"), Contains("\"llama.rope.scaling.type\""));
    CHECK_THAT(with_number("llama.rope.dimension_count", 2), Contains("\"llama.rope.dimension_count\""));
    CHECK_THAT(with_number("llama.expert_count", 8), Contains("\"llama.expert_count\""));
    CHECK_THAT(with_number("llama.attention.head_count_kv", 3), Contains("llama.attention.head_count_kv"));
    CHECK_THAT(with_number("tokenizer.ggml.eos_token_id", 7), Contains("\"tokenizer.ggml.eos_token_id\""));
    CHECK_THAT(with_text("llama.block_count", "one"), Contains("\"llama.block_count\""));
    CHECK_THAT(llama_complaint([](TinyLlama& llama) { llama.pieces.pop_back(); }),
               Contains("\"tokenizer.ggml.tokens\" has 6 pieces, but token_embd.weight has 7 rows"));
    CHECK_THAT(llama_complaint([](TinyLlama& llama) { llama.number_lists[kTypes].pop_back(); }),
               Contains("\"tokenizer.ggml.token_type\" has 6 elements for 7 pieces"));
    for (const std::uint32_t type : {0U, 7U}) {
        CHECK_THAT(llama_complaint([&](TinyLlama& llama) { llama.number_lists[kTypes][2] = type; }),
                   Contains("\"tokenizer.ggml.token_type\" must be a list of integers from 1 to 6, found"));
    }
    CHECK_THAT(llama_complaint([](TinyLlama& llama) {
                   llama.number_lists.erase(kTypes);
                   llama.float_lists[kTypes] = {3, 3, 1.5F, 1, 1, 1, 5};
               }),
               Contains("must be a list of integers from 1 to 6, found"));
    CHECK_THAT(llama_complaint(
                   [](TinyLlama& llama) { llama.float_lists["tokenizer.ggml.scores"] = {0, 0, 0, 0, 0, INFINITY, 0}; }),
               Contains("\"tokenizer.ggml.scores\" must be a list of finite numbers"));
    CHECK_THAT(llama_complaint([](TinyLlama& llama) { llama.pieces[2] = "b"; }), Contains("the piece 'b' twice"));
    CHECK_THAT(llama_complaint([](TinyLlama& llama) { llama.merges.emplace_back("a zz"); }),
               Contains("needs the piece 'zz'"));
    CHECK_THAT(llama_complaint([](TinyLlama& llama) { llama.flags["tokenizer.ggml.add_eos_token"] = true; }),
               Contains("\"tokenizer.ggml.add_eos_token\" is true"));
    CHECK_THAT(llama_complaint([](TinyLlama& llama) { llama.flags["tokenizer.ggml.add_space_prefix"] = true; }),
               Contains("\"tokenizer.ggml.add_space_prefix\" is true"));
}
