#include "qkv/model/weight_check.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {

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
