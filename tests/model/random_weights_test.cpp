#include "qkv/model/random_weights.hpp"

#include <cmath>

#include "qkv/model/family.hpp"
#include "qkv/model/session.hpp"
#include "qkv/model/shapes.hpp"
#include "qkv/model/weight_binder.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/refused.hpp"

namespace qkv::test {
namespace {

JsonReader reader_of(const nlohmann::json& config) { return {"shape", config}; }

std::vector<float> logits_of(const Model& model) {
  Session session(model, 1);
  return copied(session.forward(std::vector<TokenId>{1, 2, 3, 4}));
}

/// A model without any weights.
class Nothing : public WeightSource {
 public:
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override { return none_; }

 private:
  std::vector<StoredTensor> none_;
};

}  // namespace

TEST_CASE("only gains are asked for as gains, also where one is asked for twice", "[model]") {
  const Nothing nothing;
  WeightBinder binder(nothing);
  const NormConfig norm;
  (void)binder.norm(weight_and_bias("norm"), norm, 4);
  (void)binder.vector("vector", 4);
  (void)binder.norm(weight_and_bias("norm"), norm, 4);
  REQUIRE(binder.asked().size() == 3);
  for (const auto& asked : binder.asked()) {
    CAPTURE(asked.name);
    CHECK(asked.gain == (asked.name == "norm.weight"));
  }
}

TEST_CASE("a random model of any family runs, and one seed gives one model", "[model]") {
  for (const auto& config : {tiny_native().config, tiny_gpt2().config, tiny_llama().config}) {
    const auto model = Model::random(reader_of(config), 7);
    CHECK(model.name() == (config.contains("name") ? config["name"].get<std::string>() : "shape"));
    const auto logits = logits_of(model);
    for (const auto logit : logits) REQUIRE(std::isfinite(logit));
    CHECK(*std::max_element(logits.begin(), logits.end()) > *std::min_element(logits.begin(), logits.end()) + 1e-4F);
    CHECK(logits == logits_of(Model::random(reader_of(config), 7)));
    CHECK(logits != logits_of(Model::random(reader_of(config), 8)));
    std::int64_t numbers = 0;
    for (const auto& tensor : model.tensors()) numbers += *element_count(tensor.shape);
    CHECK(numbers == model.config().parameter_count());
  }
}

TEST_CASE("random numbers are spread as they should be, gains near one", "[model]") {
  const auto source = random_weights({{"b", {300, 5000}, false}, {"a", {4096}, true}}, 3);
  REQUIRE(source->tensors().size() == 2);
  const auto numbers = [&](std::size_t i) {
    const auto& bytes = source->tensors()[i].bytes;
    return std::span(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
  };
  CHECK(source->tensors()[0].name == "a");
  for (const auto gain : numbers(0)) REQUIRE(std::abs(gain - 1.0F) <= 0.1F);
  double sum = 0.0;
  double squares = 0.0;
  double neighbours = 0.0;
  const auto matrix = numbers(1);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const auto x = static_cast<double>(matrix[i]);
    sum += x;
    squares += x * x;
    neighbours += x * static_cast<double>(matrix[(i + 5000) % matrix.size()]);
  }
  const auto count = static_cast<double>(matrix.size());
  CHECK(std::abs(sum / count) < 1e-4);
  CHECK(std::sqrt(squares / count) == Approx(0.02).epsilon(0.01));
  CHECK(std::abs(neighbours / squares) < 0.01);  // one row says nothing of the next
}

TEST_CASE("every named shape is a config that its family understands", "[model]") {
  CHECK(named_shapes().size() >= 5);
  for (const auto& shape : named_shapes()) {
    CAPTURE(shape.name);
    const JsonReader reader(std::string(shape.name), parse_json(shape.config, std::string(shape.name)));
    const auto config = read_config(find_family(reader), reader);
    if (shape.name == "gpt2") CHECK(config.parameter_count() == 124'439'808);
    if (shape.name == "gpt2-medium") CHECK(config.parameter_count() == 354'823'168);
    if (shape.name == "smollm2-135m") CHECK(config.parameter_count() == 134'515'008);
    if (shape.name == "tinyllama-1.1b") CHECK(config.parameter_count() == 1'100'048'384);
  }
}

TEST_CASE("the shape called nursery is that of the embedded model", "[model]") {
  const auto embedded = JsonReader::open(std::filesystem::path(QKV_SOURCE_DIR) / "models" / "nursery" / "config.json");
  for (const auto& shape : named_shapes())
    if (shape.name == "nursery") {
      const JsonReader reader("nursery", parse_json(shape.config, "nursery"));
      const auto lines = describe(read_config(find_family(reader), reader));
      const auto expected = describe(read_config(find_family(embedded), embedded));
      REQUIRE(lines.size() == expected.size());
      for (std::size_t i = 0; i < lines.size(); ++i) CHECK(lines[i].value == expected[i].value);
    }
}

TEST_CASE("a shape larger than the machine's memory is refused, not tried", "[model]") {
  auto config = tiny_llama().config;
  config["hidden_size"] = 1 << 16;
  config["vocab_size"] = 1 << 23;
  check_refused(ErrorCode::model, [&] { (void)Model::random(reader_of(config), 1); }, {"memory"});
}

}  // namespace qkv::test
