// What is said of attention in README, shown on real numbers: the embedded model and a trained Llama.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "qkv/inspect/similarity.hpp"
#include "qkv/tokenizer/tokenizer.hpp"
#include "support/arrays.hpp"
#include "support/catch.hpp"
#include "support/memory_table.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_model.hpp"

namespace qkv::test {
namespace {

const std::string nursery = std::string(QKV_SOURCE_DIR) + "/models/nursery";
const std::string stories = std::string(QKV_TEST_DATA) + "/real/stories260K-hf";
constexpr auto sentence = "The dog chased the ball but could not catch it.";

std::vector<TokenId> ids_of(const std::string& directory, const std::string& text) {
  return Tokenizer::open(directory)->encode(text, {});
}

std::size_t position_of(const std::string& directory, const std::vector<TokenId>& ids, const std::string& word) {
  const auto tokenizer = Tokenizer::open(directory);
  const auto found = std::find_if(ids.begin(), ids.end(), [&](TokenId id) { return tokenizer->bytes(id) == word; });
  REQUIRE(found != ids.end());
  return static_cast<std::size_t>(found - ids.begin());
}

/// Appends the rows of one place in one layer as they come.
class RowCollector : public Observer {
 public:
  RowCollector(Place place, std::int64_t layer) : place_(place), layer_(layer) {}
  [[nodiscard]] Places wanted() const override { return static_cast<Places>(place_); }
  void observe(const Observation& seen) override {
    if (seen.layer != layer_) return;
    for (std::int64_t row = 0; row < seen.values.rows; ++row)
      rows_.insert(rows_.end(), seen.values.row(row).begin(), seen.values.row(row).end());
  }
  [[nodiscard]] const std::vector<float>& rows() const { return rows_; }

 private:
  Place place_;
  std::int64_t layer_;
  std::vector<float> rows_;
};

/// The rows when the text is run `step` tokens at a time, with the keys and values kept.
std::vector<float> rows_of(const Model& model, const std::vector<TokenId>& ids, Place place, std::int64_t layer,
                           std::size_t step) {
  Session session(model);
  RowCollector collector(place, layer);
  for (std::size_t at = 0; at < ids.size(); at += step)
    session.forward(std::span(ids).subspan(at, std::min(step, ids.size() - at)), Rows::last, &collector);
  return collector.rows();
}

std::span<const TokenId> first(const std::vector<TokenId>& ids, std::size_t count) { return {ids.data(), count}; }

}  // namespace

TEST_CASE("rows of weights sum to one, see all they may and nothing else", "[inspect]") {
  for (const auto& directory : {nursery, stories}) {
    const auto model = Model::load(directory);
    const auto ids = ids_of(directory, sentence);
    const auto n = ids.size();
    const auto weights = numbers_of(model, ids, Place::weights);
    for (std::size_t row = 0; row < weights.size() / n; ++row) {
      double sum = 0.0;
      for (std::size_t key = 0; key < n; ++key) {
        const auto w = weights[row * n + key];
        sum += static_cast<double>(w);
        if (key > row % n)
          REQUIRE(w == 0.0F);
        else
          REQUIRE(w > 0.0F);
      }
      REQUIRE(std::abs(sum - 1.0) < 1e-6);
    }
  }
}

TEST_CASE("what A asks of B is not what B asks of A", "[inspect]") {
  const auto model = Model::load(nursery);
  const auto ids = ids_of(nursery, sentence);
  const auto& attention = model.config().attention;
  const auto n = static_cast<std::int64_t>(ids.size());
  const auto q = numbers_of(model, ids, Place::q, {0});
  const auto k = numbers_of(model, ids, Place::k, {0});
  const auto score = [&](std::size_t query, std::size_t key) {  // head 0
    double sum = 0.0;
    for (std::int64_t i = 0; i < attention.head_dim; ++i)
      sum +=
          static_cast<double>(q[query * static_cast<std::size_t>(attention.head_dim) + static_cast<std::size_t>(i)]) *
          static_cast<double>(k[key * static_cast<std::size_t>(attention.head_dim) + static_cast<std::size_t>(i)]);
    return sum * attention.scale;
  };
  const auto it = position_of(nursery, ids, " it");
  const auto ball = position_of(nursery, ids, " ball");
  const auto scores = numbers_of(model, ids, Place::scores, {0});
  CHECK(score(it, ball) == Approx(scores[it * static_cast<std::size_t>(n) + ball]).margin(1e-4));
  CHECK(std::abs(score(it, ball) - score(ball, it)) > 0.1);
}

TEST_CASE("similarity of embeddings is symmetric and knows no context; learned heads find what it stands for",
          "[inspect]") {
  const auto model = Model::load(nursery);
  const auto ids = ids_of(nursery, sentence);
  const auto n = static_cast<std::int64_t>(ids.size());
  const auto buffer = similarity(model, ids);
  const auto table = buffer.view(n, n);
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = 0; b < n; ++b) CHECK(table.at(a, b) == Approx(table.at(b, a)).margin(1e-6));
  const auto it = position_of(nursery, ids, " it");
  const auto ball = position_of(nursery, ids, " ball");
  const auto row = table.row(static_cast<std::int64_t>(it));
  std::size_t nearest = 0;  // besides itself
  for (std::size_t key = 0; key < row.size(); ++key)
    if (key != it && row[key] > row[nearest]) nearest = key;
  CHECK(nearest != ball);
  const auto other = ids_of(nursery, "It was the ball. She saw it.");  // the same two words, with another meaning
  const auto other_buffer = similarity(model, other);
  const auto other_table =
      other_buffer.view(static_cast<std::int64_t>(other.size()), static_cast<std::int64_t>(other.size()));
  CHECK(other_table.at(static_cast<std::int64_t>(position_of(nursery, other, " it")),
                       static_cast<std::int64_t>(position_of(nursery, other, " ball"))) ==
        Approx(table.at(static_cast<std::int64_t>(it), static_cast<std::int64_t>(ball))).margin(1e-6));

  const auto weights = numbers_of(model, ids, Place::weights);
  float largest = 0.0F;
  for (std::size_t head = 0; head * ids.size() * ids.size() < weights.size(); ++head)
    largest = std::max(largest, weights[(head * ids.size() + it) * ids.size() + ball]);
  CHECK(largest >= 0.8F);
}

// From two tokens on; a single row goes another way through BLAS, which is faster.
TEST_CASE("a token's key and value stay bit for bit what they were when the text grows", "[inspect]") {
  for (const auto& directory : {nursery, stories}) {
    const auto model = Model::load(directory);
    auto ids = ids_of(directory, sentence);
    ids.insert(ids.end(), ids.begin() + 1, ids.end());  // past a block of rows
    const auto& attention = model.config().attention;
    for (const auto place : {Place::k, Place::v}) {
      const auto tables = static_cast<std::size_t>(model.config().n_layers * attention.n_kv_heads);
      const auto width = static_cast<std::size_t>(attention.head_dim);
      const auto longest = numbers_of(model, ids, place);  // [L, Hkv, n, K]
      for (std::size_t length = 2; length < ids.size(); ++length) {
        const auto shorter = numbers_of(model, first(ids, length), place);
        for (std::size_t table = 0; table < tables; ++table)
          REQUIRE(std::equal(shorter.begin() + static_cast<std::ptrdiff_t>(table * length * width),
                             shorter.begin() + static_cast<std::ptrdiff_t>((table + 1) * length * width),
                             longest.begin() + static_cast<std::ptrdiff_t>(table * ids.size() * width)));
      }
    }
  }
}

TEST_CASE("keys and values of the two loops agree within 1e-5", "[inspect]") {
  for (const auto& directory : {nursery, stories}) {
    const auto model = Model::load(directory);
    const auto ids = ids_of(directory, sentence);
    const auto last = model.config().n_layers - 1;
    for (const auto place : {Place::k, Place::v}) {
      const auto at_once = rows_of(model, ids, place, last, ids.size());
      const auto one_by_one = rows_of(model, ids, place, last, 1);
      REQUIRE(at_once.size() == one_by_one.size());
      CHECK(largest_difference(at_once, one_by_one) < 1e-5);
    }
  }
}

TEST_CASE("with the identity for W_o a head writes to its own slice only", "[inspect]") {
  auto config = tiny_config();
  config.attention.bias_o = false;
  auto tiny = tiny_native(config);
  const auto width = static_cast<std::size_t>(config.d_model);
  std::vector<float> identity(width * width, 0.0F);
  for (std::size_t i = 0; i < width; ++i) identity[i * width + i] = 1.0F;
  tiny.tensor("blocks.0.attn.W_o").bytes = bytes_of(identity);
  const TemporaryDirectory directory;
  write_native(tiny, directory.path());
  const auto model = Model::load(directory.path());
  const std::vector<TokenId> ids{1, 2, 3, 4};
  const auto whole = numbers_of(model, ids, Place::attn_out, {0});

  Session session(model);
  session.ablate(std::vector<HeadId>{{0, 1}});
  const auto request = resolve({Place::attn_out, {0}, {}}, model.config());
  TableDescription description;
  description.axes = axes_of(request, model.config(), 4);
  MemoryTable without;
  inspect(session, ids, request, description, without);
  const auto head_dim = static_cast<std::size_t>(config.attention.head_dim);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const bool own_slice = i % width / head_dim == 1;
    CHECK((whole[i] != without.numbers()[i]) == own_slice);
  }
}

}  // namespace qkv::test
