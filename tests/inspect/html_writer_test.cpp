#include "qkv/inspect/writers/html_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/inspect/color_scale.hpp"
#include "qkv/inspect/writers/html_codes.hpp"
#include "qkv/inspect/writers/html_page.hpp"
#include "support/catch.hpp"

namespace qkv::test {
namespace {

constexpr auto nan = std::numeric_limits<float>::quiet_NaN();

class TextSink : public Sink {
 public:
  void write(std::string_view bytes) override { text.append(bytes); }
  std::string text;
};

/// Keeps nothing, and knows the longest piece that it was given at once.
class CountingSink : public Sink {
 public:
  void write(std::string_view bytes) override {
    total += bytes.size();
    longest = std::max(longest, bytes.size());
  }
  std::size_t total = 0;
  std::size_t longest = 0;
};

Axis counted_axis(std::string name, std::int64_t extent) {
  Axis axis{std::move(name), std::vector<std::int64_t>(static_cast<std::size_t>(extent))};
  std::iota(axis.values.begin(), axis.values.end(), 0);
  return axis;
}

TableDescription causal_table(const std::string& what, std::int64_t layers, std::int64_t heads,
                              const std::vector<std::string>& tokens) {
  TableDescription table;
  table.model = "model";
  table.what = what;
  const auto n = static_cast<std::int64_t>(tokens.size());
  table.axes = {counted_axis("layer", layers), counted_axis("head", heads), counted_axis("query", n),
                counted_axis("key", n)};
  for (const auto& token : tokens) table.tokens.push_back({static_cast<TokenId>(table.tokens.size()), token});
  table.causal = true;
  return table;
}

std::vector<std::string> some_tokens(std::size_t count) { return std::vector<std::string>(count, " dog"); }

/// What a cell holds in these tests: another number everywhere.
float number_at(std::int64_t block, std::int64_t query, std::int64_t key) {
  return 1.0F / static_cast<float>(3 + 7 * block + 31 * query + 101 * key);
}

void write_causal(TableWriter& writer, const TableDescription& table, float masked) {
  writer.begin(table);
  const auto blocks = table.axes[0].extent() * table.axes[1].extent();
  const auto n = table.axes[3].extent();
  std::vector<float> row(static_cast<std::size_t>(n));
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::int64_t query = 0; query < n; ++query) {
      for (std::int64_t key = 0; key < n; ++key)
        row[static_cast<std::size_t>(key)] = key <= query ? number_at(block, query, key) : masked;
      writer.row(row);
    }
  writer.end();
}

std::string page_of(const TableDescription& table, float masked = 0) {
  TextSink sink;
  write_causal(*html_writer(sink), table, masked);
  return sink.text;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// What the script element of that id holds.
std::string element(const std::string& page, const std::string& id) {
  const auto name = page.find("id=\"" + id + "\">");
  REQUIRE(name != std::string::npos);
  const auto begin = page.find('>', name) + 1;
  return page.substr(begin, page.find("</script>", begin) - begin);
}

std::uint32_t six_bits(char c) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto at = alphabet.find(c);
  REQUIRE(at != std::string_view::npos);
  return static_cast<std::uint32_t>(at);
}

std::vector<float> read_f32(std::string text) {
  while (!text.empty() && text.back() == '=') text.pop_back();
  std::vector<float> numbers;
  std::uint64_t bits = 0;
  std::uint32_t number = 0;
  unsigned held = 0;
  unsigned bytes = 0;
  for (const auto c : text) {
    bits = (bits << 6U) | six_bits(c);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    number |= (static_cast<std::uint32_t>(bits >> held) & 0xFFU) << (8U * bytes);
    if (++bytes < 4) continue;
    numbers.push_back(std::bit_cast<float>(std::exchange(number, 0U)));
    bytes = 0;
  }
  CHECK(bytes == 0);
  return numbers;
}

double value_of_dec4(std::uint32_t code) {
  if (code < 4) return std::vector<double>{0, 1e-30, nan, 1}[code];
  return (1000 + (code - 4) % 9000) / std::pow(10.0, 4 + (code - 4) / 9000);
}

double value_of_dec5(std::uint32_t code) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (code < 4) return std::vector<double>{0, nan, infinity, -infinity}[code];
  const auto scale = (code - 4) / 90000;
  return (scale % 2 == 1 ? -1.0 : 1.0) * (10000 + (code - 4) % 90000) * std::pow(10.0, scale / 2 - 50.0);
}

/// The number rounded by the C library.
double rounded(double number, int digits) { return std::stod(fmt::format("{:.{}e}", number, digits - 1)); }

}  // namespace

TEST_CASE("the page holds the visible cells of every head, exactly while they are few", "[inspect]") {
  const auto page = page_of(causal_table("weights", 2, 3, some_tokens(5)));
  CHECK(element(page, "description").find("\"code\":\"f32\"") != std::string::npos);
  for (std::int64_t block = 0; block < 6; ++block) {
    std::vector<float> expected;
    for (std::int64_t query = 0; query < 5; ++query)
      for (std::int64_t key = 0; key <= query; ++key) expected.push_back(number_at(block, query, key));
    CAPTURE(block);
    CHECK(read_f32(element(page, "block-" + std::to_string(block))) == expected);
  }
  CHECK(page.find("id=\"block-6\"") == std::string::npos);
}

TEST_CASE("the page draws by the curves of the pictures' colours", "[inspect]") {
  const auto description =
      nlohmann::json::parse(element(page_of(causal_table("scores", 1, 1, some_tokens(2))), "description"));
  for (const auto& [name, ramp] : {std::pair<std::string, ColorRamp>{"sequential", sequential_ramp},
                                   {"negative", negative_ramp},
                                   {"positive", positive_ramp}}) {
    CAPTURE(name);
    const auto& curve = description["ramps"][name];
    CHECK(curve["lightness"] == nlohmann::json(ramp.lightness));
    CHECK(curve["hue"] == nlohmann::json(ramp.hue));
    CHECK(curve["chroma"] == nlohmann::json(ramp.chroma));
  }
}

TEST_CASE("masked scores are left out, and their range is that of the visible ones", "[inspect]") {
  const auto page = page_of(causal_table("scores", 1, 1, some_tokens(2)), nan);
  CHECK(read_f32(element(page, "block-0")).size() == 3);
  CHECK(element(page, "ranges").find("null") == std::string::npos);
  CHECK(element(page, "ranges").find("0.33333334") != std::string::npos);
}

TEST_CASE("a page is whole: head, data, one script, nothing left to fill in", "[inspect]") {
  const auto page = page_of(causal_table("weights", 2, 3, some_tokens(5)));
  CHECK(page.rfind("<!doctype html>", 0) == 0);
  CHECK(page.find("</html>") != std::string::npos);
  for (const auto* place : {"@POLICY@", "@STYLE@", "@DATA@", "@SCRIPT@"}) CHECK(page.find(place) == std::string::npos);
  CHECK(count_of(page, "<script") == 6 + 3);
  CHECK(count_of(page, "</script") == 6 + 3);
  CHECK(page.find(html_script) != std::string::npos);
  CHECK(page.find(html_style) != std::string::npos);
}

TEST_CASE("a page asks no network for anything and says so to the browser", "[inspect]") {
  const auto page = page_of(causal_table("weights", 1, 1, some_tokens(3)));
  CHECK(page.find("content=\"default-src 'none'; script-src 'sha256-") != std::string::npos);
  for (const auto* reference : {"http:", "https:", "src=", "href=", "url(", "@import", "fetch(", "import("})
    CHECK(page.find(reference) == std::string::npos);
}

TEST_CASE("what a token or a model is called never reaches the page as markup", "[inspect]") {
  auto table = causal_table("weights", 1, 1,
                            {"</script>", "<script>alert(1)</script>", "<!--", "\"'&\\", std::string("\0\n\x1F", 3),
                             "\xE2\x80\xA8\xE2\x80\xA9", "\xFF", "\xF0\x9F", "\xE2\x80\xAE"});
  table.model = "</title><b>";
  const auto page = page_of(table);
  CHECK(count_of(page, "<script") == 1 + 3);
  CHECK(count_of(page, "</script") == 1 + 3);
  CHECK(page.find("<!--") == std::string::npos);
  CHECK(page.find("</title><b>") == std::string::npos);
  const auto text = element(page, "description");
  for (const auto* raw : {"<", ">", "&", "'", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xFF", "\xF0"})
    CHECK(text.find(raw) == std::string::npos);
  CHECK(text.find('\0') == std::string::npos);
  CHECK(text.find("\\u003c/script\\u003e") != std::string::npos);
  CHECK(text.find("\"\\u0000\\u000a\\u001f\"") != std::string::npos);
  CHECK(text.find("\"\\u2028\\u2029\"") != std::string::npos);
  CHECK(text.find("\"\\udcff\"") != std::string::npos);         // a byte that is not UTF-8
  CHECK(text.find("\"\\udcf0\\udc9f\"") != std::string::npos);  // a character that is not whole
}

TEST_CASE("many weights take three characters each and keep four digits", "[inspect]") {
  CHECK(choose_html_code("weights", (1 << 20)) == HtmlCode::f32);
  CHECK(choose_html_code("weights", (1 << 20) + 1) == HtmlCode::dec4);
  CHECK(choose_html_code("scores", (1 << 20) + 1) == HtmlCode::dec5);

  for (float number = 1.1e-29F; number <= 1; number *= 1.0037F) {
    const auto kept = value_of_dec4(html_dec4(number));
    const auto expected = rounded(static_cast<double>(number), 4);
    if (std::abs(kept - expected) > 1e-12 * expected) {
      CAPTURE(number, kept, expected);
      FAIL_CHECK("not the number rounded to four digits");
    }
  }
  CHECK(html_dec4(0.0F) == 0);
  CHECK(html_dec4(1e-30F) == 1);
  CHECK(html_dec4(std::numeric_limits<float>::denorm_min()) == 1);
  CHECK(html_dec4(nan) == 2);
  CHECK(html_dec4(-0.5F) == 2);
  CHECK(html_dec4(1.0F) == 3);
  CHECK(html_dec4(1.0000001F) == 3);
  CHECK(html_dec4(0.99999F) == 3);
  CHECK(html_dec4(0.9999F) == 4 + 8999);
  CHECK(html_dec4(0.1F) == 4);
  CHECK(html_dec4(0.015625F) == 4 + 9000 + 563);  // halves up, as browsers round
}

TEST_CASE("many other numbers take four characters each, of either sign and any size", "[inspect]") {
  for (float size = std::numeric_limits<float>::denorm_min(); std::isfinite(size); size *= 2.37F)
    for (const float number : {size, -size}) {
      const auto kept = value_of_dec5(html_dec5(number));
      const auto expected = rounded(static_cast<double>(number), 5);
      if (std::abs(kept - expected) > 1e-12 * std::abs(expected)) {
        CAPTURE(number, kept, expected);
        FAIL_CHECK("not the number rounded to five digits");
      }
    }
  CHECK(html_dec5(std::numeric_limits<float>::max()) < (1U << 24U));
  CHECK(html_dec5(std::numeric_limits<float>::lowest()) < (1U << 24U));
  CHECK(html_dec5(0.0F) == 0);
  CHECK(html_dec5(nan) == 1);
  CHECK(html_dec5(std::numeric_limits<float>::infinity()) == 2);
  CHECK(html_dec5(-std::numeric_limits<float>::infinity()) == 3);
}

TEST_CASE("packed blocks are read back as they were written", "[inspect]") {
  const std::vector<float> numbers{0.0F, 1.0F, 0.25F, 1e-4F};
  for (const auto code : {HtmlCode::dec4, HtmlCode::dec5}) {
    std::string text;
    HtmlPacker packer(code);
    packer.append(numbers, text);
    packer.finish(text);
    const std::size_t width = code == HtmlCode::dec4 ? 3 : 4;
    REQUIRE(text.size() == width * numbers.size());
    for (std::size_t index = 0; index < numbers.size(); ++index) {
      std::uint32_t bits = 0;
      for (const auto c : text.substr(width * index, width)) bits = (bits << 6U) | six_bits(c);
      const auto kept = width == 3 ? value_of_dec4(bits) : value_of_dec5(bits);
      CHECK(kept == Approx(numbers[index]).epsilon(1e-6));
    }
  }
}

TEST_CASE("rows are passed on as they come: a long text needs no more memory than its row", "[inspect]") {
  const auto table = causal_table("weights", 6, 4, some_tokens(512));
  CountingSink sink;
  write_causal(*html_writer(sink), table, 0);
  const std::size_t cells = 24 * 512 * 513 / 2;
  CHECK(sink.total > 3 * cells);
  CHECK(sink.total < 3 * cells + 200'000);
  CHECK(sink.longest <= std::max<std::size_t>(html_script.size(), 64'000));
}

TEST_CASE("tables of other shapes become pictures where they can", "[inspect]") {
  TableDescription table{
      .model = "", .what = "similarity", .axes = {counted_axis("query", 2), counted_axis("key", 2)}, .tokens = {}};
  TextSink sink;
  auto writer = html_writer(sink);
  writer->begin(table);
  writer->row(std::vector<float>{1, -2});
  writer->row(std::vector<float>{-2, 3});
  writer->end();
  CHECK(read_f32(element(sink.text, "block-0")) == std::vector<float>{1, -2, -2, 3});
  CHECK(element(sink.text, "ranges") == "[[-2,3]]");
}

TEST_CASE("what is no picture is refused before anything is written", "[inspect]") {
  const auto refused = [](const std::vector<Axis>& axes) {
    TextSink sink;
    try {
      html_writer(sink)->begin({.model = "", .what = "logits", .axes = axes, .tokens = {}});
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      CHECK(std::string(error.what()).find("logits") != std::string::npos);
      return sink.text.empty();
    }
    return false;
  };
  CHECK(refused({counted_axis("position", 3)}));
  CHECK(refused({counted_axis("position", 3), counted_axis("vocabulary", 4097)}));
  CHECK(refused({counted_axis("position", 0), counted_axis("dimension", 3)}));
  CHECK(refused(std::vector<Axis>(5, counted_axis("layer", 2))));
}

TEST_CASE("a table that ends early is an error", "[inspect]") {
  TextSink sink;
  auto writer = html_writer(sink);
  writer->begin(causal_table("weights", 1, 1, some_tokens(2)));
  writer->row(std::vector<float>{1, 0});
  CHECK_THROWS_AS(writer->end(), Error);
}

}  // namespace qkv::test
