#include "qkv/model/weight_check.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

/// One tensor of 70,000 q8_0 blocks, number i of each being i % 7, but for one scale that is no number.
class Blocks : public WeightSource {
 public:
  static constexpr std::int64_t n_blocks = 70000;
  Blocks() {
    for (std::int64_t block = 0; block < n_blocks; ++block) {
      bytes_ += block == 40000 ? std::string("\0\x7E", 2) : std::string("\0\x3C", 2);  // NaN, or 1
      for (int i = 0; i < 32; ++i) bytes_ += static_cast<char>(i % 7);
    }
    tensors_.push_back({"w", DType::q8_0, {n_blocks, 32}, std::as_bytes(std::span(bytes_)), "x.gguf"});
  }
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override {
    ++times_asked;
    return tensors_;
  }
  mutable int times_asked = 0;

 private:
  std::string bytes_;
  std::vector<StoredTensor> tensors_;
};

}  // namespace

TEST_CASE("quantised weights are read number by number", "[model]") {
  ModelFiles files;
  const auto source = std::make_shared<Blocks>();
  files.source = source;
  files.asked = {{"w", {Blocks::n_blocks, 32}, false}};
  std::int64_t last = 0;
  int chunks = 0;
  const auto checks = check_weights(files, [&](std::int64_t done, std::int64_t total) {
    last = done;
    ++chunks;
    CHECK(total == Blocks::n_blocks * 34);
  });
  CHECK(chunks > 10);
  CHECK(source->times_asked < 5);  // not at every chunk, since a model may have thousands of tensors
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].count == Blocks::n_blocks * 32);
  CHECK(checks[0].not_finite == 32);
  CHECK(checks[0].index() == "[40000, 0]");
  CHECK(checks[0].greatest == 6.0F);
  CHECK(last == Blocks::n_blocks * 34);
}

TEST_CASE("every weight is read and what is not finite is found", "[model]") {
  const TemporaryDirectory directory;
  auto model = tiny_native();
  auto numbers = model.numbers("blocks.1.mlp.W_in");  // [20, 12]
  for (auto& number : numbers) number = 1.0F;
  numbers[0] = -3.0F;
  numbers[41] = -HUGE_VALF;
  numbers[50] = std::nanf("");
  numbers[239] = 5.0F;
  model.tensor("blocks.1.mlp.W_in").bytes = bytes_of(numbers);
  write_native(model, directory.path());
  std::int64_t last = 0;
  const auto files = open_model_files(directory.path());
  const auto checks = check_weights(files, [&](std::int64_t done, std::int64_t) { last = done; });
  CHECK(checks.size() == files.source->tensors().size());
  CHECK(last == files.byte_count());
  std::int64_t count = 0;
  for (const auto& check : checks) {
    count += check.count;
    if (check.name != "blocks.1.mlp.W_in") {
      CHECK(check.not_finite == 0);
      CHECK(check.first_not_finite == -1);
      CHECK(check.least < check.greatest);
      continue;
    }
    CHECK(check.not_finite == 2);
    CHECK(check.first_not_finite == 41);
    CHECK(check.index() == "[3, 5]");
    CHECK(std::isinf(check.found));
    CHECK(check.least == -3.0F);
    CHECK(check.greatest == 5.0F);
    const auto mean = (236.0 - 3.0 + 5.0) / 238.0;
    CHECK(check.mean == Approx(mean));
    CHECK(check.deviation == Approx(std::sqrt((236.0 + 9.0 + 25.0) / 238.0 - mean * mean)));
  }
  CHECK(count == files.config.parameter_count());
}

}  // namespace qkv::test
