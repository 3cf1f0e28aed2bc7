#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/picture_tables.hpp"
#include "qkv/core/utf8.hpp"
#include "support/catch.hpp"

namespace qkv {
namespace {

using namespace std::string_literals;
using test::attention_table;
using test::picture_of;
using test::share;

/// What stands between the tags, read by a small strict parser that knows the XML these pictures use: elements,
/// quoted attributes, and the predefined entities. `error` says why a document is refused.
struct Xml {
  std::vector<std::string> texts;  // of <text> elements
  std::vector<std::string> titles;
  std::vector<std::string> elements;
  std::string error;
};

std::string unescaped(std::string_view text, std::string& error) {
  constexpr std::array<std::pair<std::string_view, char>, 5> entities{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string plain;
  while (!text.empty()) {
    if (text.front() != '&') {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    bool known = false;
    for (const auto& [entity, character] : entities)
      if (text.substr(0, entity.size()) == entity) {
        plain += character;
        text.remove_prefix(entity.size());
        known = true;
        break;
      }
    if (!known) {
      error = "an ampersand that begins no entity";
      return plain;
    }
  }
  return plain;
}

/// The attributes of a tag: name="value", separated by spaces, no '<' inside.
bool attributes_are_sound(std::string_view rest) {
  while (!rest.empty()) {
    if (rest.front() != ' ') return false;
    rest.remove_prefix(1);
    const auto equals = rest.find("=\"");
    if (equals == std::string_view::npos || rest.substr(0, equals).find_first_of(" <>\"'&") != std::string_view::npos)
      return false;
    const auto close = rest.find('"', equals + 2);
    if (close == std::string_view::npos) return false;
    if (rest.substr(equals + 2, close - equals - 2).find('<') != std::string_view::npos) return false;
    rest.remove_prefix(close + 1);
  }
  return true;
}

Xml parse(std::string_view document) {
  Xml xml;
  if (!is_valid_utf8(document)) xml.error = "not UTF-8";
  for (const auto c : document)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') xml.error = "a control character";
  constexpr std::string_view declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (document.substr(0, declaration.size()) != declaration) xml.error = "no declaration";
  document.remove_prefix(std::min(document.size(), declaration.size()));
  std::vector<std::string> open;
  while (xml.error.empty() && !document.empty()) {
    const auto less = document.find('<');
    const auto text = unescaped(document.substr(0, less), xml.error);
    if (!open.empty() && open.back() == "text") xml.texts.push_back(text);
    if (!open.empty() && open.back() == "title") xml.titles.push_back(text);
    if (less == std::string_view::npos) break;
    const auto greater = document.find('>', less);
    if (greater == std::string_view::npos) return xml.error = "a tag without end", xml;
    auto tag = document.substr(less + 1, greater - less - 1);
    document.remove_prefix(greater + 1);
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return xml.error = "a wrong end tag", xml;
      open.pop_back();
      continue;
    }
    const bool closed = tag.back() == '/';
    if (closed) tag.remove_suffix(1);
    const auto name = tag.substr(0, tag.find(' '));
    if (!attributes_are_sound(tag.substr(name.size()))) return xml.error = "unsound attributes", xml;
    xml.elements.emplace_back(name);
    if (!closed) open.emplace_back(name);
  }
  if (!open.empty() && xml.error.empty()) xml.error = "an element without end";
  return xml;
}

bool has(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

std::int64_t count(const std::vector<std::string>& elements, std::string_view name) {
  return std::count(elements.begin(), elements.end(), name);
}

TEST_CASE("an SVG says in text what it shows: title, axes, tokens, numbers, layers and heads", "[inspect]") {
  const auto one = parse(picture_of(attention_table(1, 1, 3), PictureFormat::svg, share));
  CHECK(one.error.empty());
  for (const auto* text :
       {"tiny: weights of layer 0, head 0", "query (asks)", "key (is asked)", "\u2423t2", "linear scale", "not seen",
        "0.40", "Blank: keys that come after the query, which it cannot see."}) {
    CAPTURE(text);
    CHECK(has(one.texts, text));
  }
  CHECK(has(one.titles, "query 1 (\u2423t1), key 0 (\u2423t0): 0.25"));
  // Masked cells have no number, neither in them nor when they are pointed at.
  CHECK_FALSE(has(one.texts, "nan"));
  CHECK(count(one.elements, "title") == 1 + 6);

  const auto grid = parse(picture_of(attention_table(2, 3, 4), PictureFormat::svg, share, {.log_scale = true}));
  CHECK(grid.error.empty());
  for (const auto* text : {"layer 0 head 0", "layer 1 head 2", "log scale", "0.0001 or less"}) {
    CAPTURE(text);
    CHECK(has(grid.texts, text));
  }
}

TEST_CASE("hostile labels stay text", "[inspect]") {
  auto table = attention_table(1, 1, 9);
  const std::string labels[] = {"</text>", "\"q\"'&<>", "a\0b"s, "\xFF\xFE", "\u202Eevil",
                                "]]>",     "<!--",      "&amp;", "\x1B[2J"};
  for (std::size_t i = 0; i < 9; ++i) table.tokens[i].text = labels[i];
  table.model = "<script>\u202E\xFF\0"s;
  const auto svg = picture_of(table, PictureFormat::svg, share);
  const auto xml = parse(svg);
  CHECK(xml.error.empty());
  for (const auto* shown :
       {"</text>", "\"q\"'&<>", "a\\x00b", "\\xFF\\xFE", "U+202Eevil", "]]>", "<!--", "&amp;", "\\x1B[2J"}) {
    CAPTURE(shown);
    CHECK(count(xml.texts, shown) == 2);  // as a row and as a column
  }
  CHECK(svg.find("\u202E") == std::string::npos);
  CHECK(count(xml.elements, "script") == 0);
  CHECK(has(xml.titles, "<script>U+202E\\xFF\\x00: weights of layer 0, head 0"));
  for (const auto format : {PictureFormat::png, PictureFormat::pdf})
    CHECK_FALSE(picture_of(table, format, share).empty());
}

TEST_CASE("a number that is none is named where a query sees it", "[inspect]") {
  const auto broken = [](std::int64_t, std::int64_t row, std::int64_t column) {
    return row == 2 && column == 1 ? std::numeric_limits<float>::quiet_NaN() : 0.25F;
  };
  const auto xml = parse(picture_of(attention_table(1, 1, 3), PictureFormat::svg, broken));
  CHECK(count(xml.texts, "nan") == 1);
  CHECK(has(xml.titles, "query 2 (\u2423t2), key 1 (\u2423t1): nan"));
}

TEST_CASE("small tables are rectangles, large ones an image each", "[inspect]") {
  const auto small = parse(picture_of(attention_table(2, 2, 10), PictureFormat::svg, share));
  CHECK(small.error.empty());
  CHECK(count(small.elements, "image") == 1);  // the colour bar
  CHECK(count(small.elements, "rect") >= 4 * 55);
  const auto svg = picture_of(attention_table(3, 5, 100), PictureFormat::svg, share);
  const auto large = parse(svg);
  CHECK(large.error.empty());
  CHECK(count(large.elements, "image") == 15 + 1);
  CHECK(count(large.elements, "rect") < 500);
  CHECK(svg.find("data:image/png;base64,iVBORw0KGgo") != std::string::npos);  // how every PNG begins
}

TEST_CASE("the parser of these tests refuses what is not XML", "[inspect]") {
  const auto refused = [](const std::string& body) {
    return !parse("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + body).error.empty();
  };
  CHECK_FALSE(refused("<svg a=\"1\"><text>x &lt; y</text></svg>\n"));
  CHECK(refused("<svg><text>a</svg>"));
  CHECK(refused("<svg>a & b</svg>"));
  CHECK(refused("<svg>a < b</svg>"));
  CHECK(refused("<svg a=1></svg>"));
  CHECK(refused("<svg a=\"<\"></svg>"));
  CHECK(refused("<svg>\xFF</svg>"));
  CHECK(refused("<svg>\x01</svg>"));
  CHECK(refused("<svg>"));
}

}  // namespace
}  // namespace qkv
