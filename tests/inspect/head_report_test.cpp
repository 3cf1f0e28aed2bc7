// What the head report says, on a head whose weights are known: with W_q and b_q zero, every score is 0 and a query at
// position t gives each of its t + 1 keys the share 1 / (t + 1).

#include "qkv/inspect/head_report.hpp"

#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

std::vector<HeadMetrics> report_on_uniform_heads(const std::vector<TokenId>& ids) {
  auto tiny = tiny_native();
  for (const auto* name : {"blocks.0.attn.W_q", "blocks.0.attn.b_q", "blocks.1.attn.W_q", "blocks.1.attn.b_q"}) {
    auto& bytes = tiny.tensor(name).bytes;
    bytes.assign(bytes.size(), '\0');
  }
  const TemporaryDirectory directory;
  write_native(tiny, directory.path());
  const auto model = Model::load(directory.path());
  Session session(model);
  return measure_heads(session, ids);
}

}  // namespace

TEST_CASE("the metrics of a head that looks everywhere alike", "[inspect]") {
  // Positions:                          0  1  2  3  4
  const auto heads = report_on_uniform_heads({5, 7, 5, 7, 7});
  REQUIRE(heads.size() == static_cast<std::size_t>(tiny_config().n_layers * tiny_config().attention.n_heads));
  for (const auto& head : heads) {
    const double share = (1.0 / 2 + 1.0 / 3 + 1.0 / 4 + 1.0 / 5) / 4;
    CHECK(*head.entropy == Approx((std::log(2.0) + std::log(3.0) + std::log(4.0) + std::log(5.0)) / 4).epsilon(1e-5));
    CHECK(*head.first == Approx(share).epsilon(1e-5));
    CHECK(*head.self == Approx(share).epsilon(1e-5));
    CHECK(*head.previous == Approx(share).epsilon(1e-5));
    CHECK(*head.distance == Approx((0.5 + 1.0 + 1.5 + 2.0) / 4).epsilon(1e-5));
    // Query 2 has a copy at 0, query 3 one at 1, query 4 two, at 1 and 3.
    CHECK(*head.copies == Approx((1.0 / 3 + 1.0 / 4 + 2.0 / 5) / 3).epsilon(1e-5));
    // What followed: 1 for query 2, 2 for query 3, and 2 for query 4 (its copy at 3 is followed by itself).
    CHECK(*head.induction == Approx((1.0 / 3 + 1.0 / 4 + 1.0 / 5) / 3).epsilon(1e-5));
    CHECK(head.largest == Approx(0.5).epsilon(1e-5));
    CHECK(head.largest_query == 1);
  }
}

TEST_CASE("what has no meaning for a text is left out", "[inspect]") {
  for (const auto& head : report_on_uniform_heads({5})) {
    CHECK_FALSE(head.entropy);
    CHECK_FALSE(head.previous);
    CHECK(head.largest_query == -1);
  }
  for (const auto& head : report_on_uniform_heads({5, 7, 7})) {
    CHECK(head.copies);
    CHECK_FALSE(head.induction);  // the only copy stands right before the query
  }
}

}  // namespace qkv::test
