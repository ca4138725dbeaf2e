// Compares whole models with independent implementations in PyTorch and float64: tests/golden/make_vectors.py, and
// Hugging Face's GPT-2, BERT (tests/golden/make_transformers_vectors.py) and T5 (tests/golden/make_t5_vectors.py).
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "io/safetensors.h"
#include "model/mask_predict.h"
#include "small_model.h"
#include "tests/house/files.h"
#include "tests/ops/devices.h"
#include "training.h"

using namespace headscope;

namespace {

const std::vector<std::string> kCases = {"paper",          "pre_norm",     "untied",
                                         "learned",        "biases",       "rms",
                                         "causal",         "masked",       "bare",
                                         "gelu_tanh",      "token_types",  "gpt2",
                                         "bert",           "t5",           "t5_gated",
                                         "index",          "normalised",   "concatenated",
                                         "convolution",    "separable",    "convolution_gelu",
                                         "lstm",           "gru",          "bidirectional",
                                         "restricted",     "adaptive",     "additive",
                                         "bahdanau",       "mask_predict", "experts",
                                         "experts_switch", "grouped",      "rotary",
                                         "rotary_partial", "sandwich",     "inside",
                                         "parallel",       "parallel_one"};

// Relative errors of a whole tensor: |found - expected| / |expected|, in the 2-norm.
struct Bounds {
    double forward;   // logits and losses
    double gradient;  // every gradient
    double steps;     // every parameter's movement in ten steps of Adam
};
// In double precision only the order of sums differs. In single precision values are rounded to 6e-8, which depth and
// cancellation in gradients amplify. Adam's first steps divide two gradients of the same magnitude, so small entries
// move as far as large ones, with their larger relative error.
constexpr Bounds kOracle{1e-9, 1e-9, 1e-9};
constexpr Bounds kSingle{2e-6, 1e-5, 1e-3};

template <class T>
std::vector<T> read(const SafeTensorsFile& file, const std::string& name, DType dtype) {
    const MappedTensor tensor = file.at(name);
    REQUIRE(tensor.dtype == dtype);
    std::vector<T> values(static_cast<std::size_t>(tensor.shape.elements()));
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
}

double norm(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) {
        sum += value * value;
    }
    return std::sqrt(sum);
}

std::vector<double> minus(std::vector<double> a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] -= b[i];
    }
    return a;
}

double error_of_norm(const std::vector<double>& found, const std::vector<double>& expected) {
    return norm(minus(found, expected)) / norm(expected);
}

// A bias of the keys adds the same to all products with a query, which softmax cancels. Its gradient is 0 in theory and
// rounding noise in practice, which Adam turns into arbitrary steps.
bool is_cancelled(const ModelConfig& config, const std::string& name) {
    const bool is_normed =
        config.attention.query_key_norm != QueryKeyNorm::None && name.find("self_attention") != std::string::npos;
    return !is_normed && config.attention.score != AttentionScore::Additive && name.ends_with(".k.bias") &&
           config.positions.rotary.kind == Rotary::None;
}

// The same of the columns that rotary positions do not turn: what is added by the others depends on the key's position.
bool is_cancelled_in_part(const ModelConfig& config, const std::string& name) {
    return name.ends_with(".k.bias") && config.positions.rotary.columns > 0;
}

class Golden {
public:
    Golden(const std::string& name, const std::string& device, double temperature = 1.0)
        : file_(SafeTensorsFile::open(checkout_file("tests/golden/" + name + ".safetensors"))),
          model_(config(name, temperature), device) {
        options_.epsilon = std::stof(file_.metadata().at("epsilon"));
        options_.smoothing =
            file_.metadata().at("smoothing") == "all" ? Smoothing::AllClasses : Smoothing::OtherClasses;
        options_.chunk_rows = 7;
        for (const ParameterSpec& spec : model_.parameters.table()) {
            REQUIRE(file_.at("parameter/" + spec.name).shape == spec.shape);
            from_host(*model_.backend, model_.parameters.at(spec.name).value(), expected("parameter/" + spec.name));
        }
        std::size_t named = 0;
        for (const SafeTensorsEntry& entry : file_.entries()) {
            named += entry.name.starts_with("parameter/") ? 1 : 0;
        }
        REQUIRE(named == model_.parameters.table().size());
        batch_.sentences = 3;
        const auto take = [&](const char* of_ids, Tensor& tensor) {
            tensor = make_from_host(*model_.backend, file_.at(of_ids).shape, DType::I32, ids(of_ids));
        };
        take("target_in", batch_.target.ids);
        batch_.predicted = upload(*model_.backend, Gather(ids("target_out")));
        if (model_.config.architecture == Architecture::EncoderDecoder) {
            take("source", batch_.source.ids);
            take("source_lengths", batch_.source.lengths);
            batch_.source.order = order("source");
        }
        if (model_.config.generation == Generation::MaskPredict) {
            take_source_ends();
        }
        if (file_.contains("target_lengths")) {
            take("target_lengths", batch_.target.lengths);
        }
        batch_.target.order = order("target_in");
        if (model_.config.embedding.token_types > 0) {
            take("target_types", batch_.target.types);
            batch_.target.type_order = order("target_types");
        }
        if (model_.config.adaptive()) {
            for (const Gather& gather :
                 gather_clusters(Gather(ids("target_out")), model_.config.output.adaptive.cutoffs)) {
                batch_.adaptive.push_back(upload(*model_.backend, gather));
            }
        }
    }

    void check_forward(const Bounds& bounds) {
        Context ctx{*model_.backend};
        const Var hidden = model_.model->states(ctx, batch_);
        std::vector<double> logits = model_.host(model_.model->logits(ctx, hidden).value());
        for (double& logit : logits) {
            logit *= model_.config.output.temperature;
        }
        CHECK(error_of_norm(logits, expected("logits")) < bounds.forward);
        const LossSums sums = model_.model->loss(ctx, batch_, options_);
        CHECK(error_of_norm(model_.host(sums.loss), expected("loss")) < bounds.forward);
        CHECK(error_of_norm(model_.host(sums.nll), expected("nll")) < bounds.forward);
        if (const auto* masks = dynamic_cast<const MaskPredict*>(model_.model.get())) {
            const Tensor lengths = masks->length_logits(ctx, batch_, masks->encode(ctx, batch_));
            CHECK(error_of_norm(model_.host(lengths), expected("length_logits")) < bounds.forward);
        }
    }

    void check_gradients(const Bounds& bounds) {
        Tape tape;
        Context ctx{*model_.backend, &tape};
        const LossSums sums = model_.model->loss(ctx, batch_, options_);
        CHECK(error_of_norm(model_.host(sums.loss), expected("loss")) < bounds.forward);
        for (const ParameterSpec& spec : model_.parameters.table()) {
            INFO(spec.name);
            const std::vector<double> found = model_.host(model_.parameters.at(spec.name).gradient());
            if (is_cancelled(model_.config, spec.name)) {
                CHECK(norm(found) < bounds.gradient * norm(expected("gradient/" + query_of(spec.name))));
            } else {
                CHECK(error_of_norm(found, expected("gradient/" + spec.name)) < bounds.gradient);
            }
        }
    }

    void check_steps(const Bounds& bounds) {
        AdamForTests adam(*model_.backend, model_.parameters, std::stoll(file_.metadata().at("warmup")),
                          model_.config.d_model);
        for (int step = 0; step < std::stoi(file_.metadata().at("steps")); ++step) {
            model_.parameters.forget_gradients();
            Tape tape;
            Context ctx{*model_.backend, &tape};
            model_.model->loss(ctx, batch_, options_);
            adam.step(batch_.predicted.count);
        }
        for (const ParameterSpec& spec : model_.parameters.table()) {
            if (is_cancelled(model_.config, spec.name) || is_cancelled_in_part(model_.config, spec.name)) {
                continue;
            }
            INFO(spec.name);
            const std::vector<double> before = expected("parameter/" + spec.name);
            const std::vector<double> found = model_.host(model_.parameters.at(spec.name).value());
            CHECK(error_of_norm(minus(found, before), minus(expected("after/" + spec.name), before)) < bounds.steps);
        }
    }

private:
    ModelConfig config(const std::string& name, double temperature) const {
        ModelConfig config = parse_model_config(nlohmann::json::parse(file_.metadata().at("config")), name);
        config.output.temperature = temperature;
        return config;
    }
    static std::string query_of(std::string name) { return name.replace(name.rfind(".k.bias"), 7, ".q.bias"); }
    std::vector<double> expected(const std::string& name) { return read<double>(file_, name, DType::F64); }
    std::vector<std::int32_t> ids(const std::string& name) { return read<std::int32_t>(file_, name, DType::I32); }
    void take_source_ends() {
        std::vector<std::int32_t> ends = ids("source_lengths");
        for (std::size_t row = 0; row < ends.size(); ++row) {
            ends[row] += static_cast<std::int32_t>(row) * 8 - 1;
        }
        batch_.source_ends = upload(*model_.backend, Gather(Gather(), ends, ids("target_lengths"), 3));
    }
    // Positions sorted by id. Pads too: their gradients are 0.
    Tensor order(const std::string& name) {
        const std::vector<std::int32_t> values = ids(name);
        std::vector<std::int32_t> sorted(values.size());
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            sorted[i] = static_cast<std::int32_t>(i);
        }
        std::stable_sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
            return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
        });
        return make_from_host(*model_.backend, {std::ssize(sorted)}, DType::I32, sorted);
    }

    SafeTensorsFile file_;
    SmallModel model_;
    LossOptions options_;
    DeviceBatch batch_;
};

void check_all(const std::string& name, const std::string& device, const Bounds& bounds) {
    INFO(name << " on " << device);
    Golden golden(name, device);
    golden.check_forward(bounds);
    golden.check_gradients(bounds);
    golden.check_steps(bounds);
}

}  // namespace

TEST_CASE("the oracle equals PyTorch in float64: logits, loss, every gradient, ten steps") {
    for (const std::string& name : kCases) {
        check_all(name, "cpu:oracle", kOracle);
    }
}

TEST_CASE("single precision stays near PyTorch in float64 on every device") {
    for (const std::string& device : conformance::devices_under_test()) {
        for (const std::string& name : kCases) {
            check_all(name, device, kSingle);
        }
    }
}

TEST_CASE("a temperature divides the logits of PyTorch, and training ignores it") {
    for (const char* name : {"untied", "masked", "t5"}) {  // with a bias, with a layer before, with scaled states
        INFO(name);
        Golden oracle(name, "cpu:oracle", 2.0);
        oracle.check_forward(kOracle);
        oracle.check_gradients(kOracle);
        for (const std::string& device : conformance::devices_under_test()) {
            Golden(name, device, 0.5).check_forward(kSingle);
        }
    }
}
