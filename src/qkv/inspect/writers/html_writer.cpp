#include "qkv/inspect/writers/html_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/inspect/color_scale.hpp"
#include "qkv/inspect/writers/html_codes.hpp"
#include "qkv/inspect/writers/html_page.hpp"

namespace qkv {
namespace {

constexpr std::int64_t longest_side = 4096;

/// Appends `text` (any bytes) as a JSON string that can stand inside a script element: nothing in it means anything to
/// HTML, whatever a browser makes of U+2028. A byte that is not UTF-8 becomes the lone surrogate U+DC00 + byte, which
/// no text can hold otherwise, so that the page can show it as \xHH.
void put_json(std::string_view text, std::string& json) {
  constexpr std::string_view not_as_is = "\"\\<>&'";
  json += '"';
  for (std::size_t at = 0; at < text.size();) {
    const auto step = utf8_next(text, at);
    const auto bytes = text.substr(at, step.length);
    const auto is_separator = step.codepoint == 0x2028 || step.codepoint == 0x2029;
    const auto is_control = step.codepoint >= 0 && (step.codepoint < 0x20 || step.codepoint == 0x7F);
    if (step.codepoint < 0)
      json += fmt::format("\\udc{:02x}", static_cast<unsigned char>(bytes[0]));
    else if (is_separator || is_control || not_as_is.find(bytes[0]) != std::string_view::npos)
      json += fmt::format("\\u{:04x}", step.codepoint);
    else
      json += bytes;
    at += step.length;
  }
  json += '"';
}

std::string axes_json(const std::vector<Axis>& axes) {
  std::string json = "[";
  for (const auto& axis : axes) {
    json += json.size() == 1 ? R"({"name":)" : R"(,{"name":)";
    put_json(axis.name, json);
    json += fmt::format(R"(,"values":[{}]}})", fmt::join(axis.values, ","));
  }
  return json + "]";
}

std::string tokens_json(const std::vector<TokenLabel>& tokens) {
  std::string json = "[";
  for (const auto& token : tokens) {
    json += fmt::format(R"({}{{"id":{},"text":)", json.size() == 1 ? "" : ",", token.id);
    put_json(token.text, json);
    json += '}';
  }
  return json + "]";
}

/// The colours that pictures have, as the curves that the page draws them by.
std::string ramps_json() {
  const auto ramp_json = [](const ColorRamp& ramp) {
    return fmt::format(R"({{"lightness":[{}],"hue":[{}],"chroma":[{}]}})", fmt::join(ramp.lightness, ","),
                       fmt::join(ramp.hue, ","), fmt::join(ramp.chroma, ","));
  };
  return fmt::format(R"({{"sequential":{},"negative":{},"positive":{}}})", ramp_json(sequential_ramp),
                     ramp_json(negative_ramp), ramp_json(positive_ramp));
}

/// What a page of this table shows, and null where JSON has no number.
struct Range {
  float least = std::numeric_limits<float>::infinity();
  float most = -std::numeric_limits<float>::infinity();

  void include(std::span<const float> numbers) {
    for (const auto number : numbers) {
      if (!std::isfinite(number)) continue;
      least = std::min(least, number);
      most = std::max(most, number);
    }
  }
  [[nodiscard]] std::string json() const { return least > most ? "[null,null]" : fmt::format("[{},{}]", least, most); }
};

void refuse_what_is_no_picture(const TableDescription& table) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("html: {} {}; --format npy, csv or json takes any", table.what, why));
  };
  if (table.axes.size() < 2 || table.axes.size() > 4)
    refuse(fmt::format("has {} axes, expected 2 to 4 for pictures", table.axes.size()));
  for (const auto& axis : table.axes)
    if (axis.extent() == 0) refuse(fmt::format("is empty along {}, expected something to show", axis.name));
  for (const auto* axis : {&table.axes.end()[-2], &table.axes.end()[-1]})
    if (axis->extent() > longest_side)
      refuse(fmt::format("has {} entries along {}, expected at most {} in a picture", axis->extent(), axis->name,
                         longest_side));
}

class HtmlWriter : public TableWriter {
 public:
  explicit HtmlWriter(Sink& sink) : sink_(sink) {}

  void begin(const TableDescription& description) override;
  void row(std::span<const float> numbers) override;
  void end() override;

 private:
  void write_page_until(std::string_view place);
  void begin_block();
  void end_block();

  Sink& sink_;
  std::string_view page_ = html_page;  // what is left of it
  std::vector<std::int64_t> visible_;  // how many cells of each row of a picture are kept
  std::int64_t n_blocks_ = 0;
  HtmlPacker packer_{HtmlCode::f32};
  std::string text_;  // of the row at hand
  std::size_t row_ = 0;
  std::vector<Range> ranges_;  // one for each block so far
};

/// How many cells of each row of a picture hold a number.
std::vector<std::int64_t> visible_cells(const TableDescription& table) {
  const auto& rows = table.axes.end()[-2];
  const auto width = table.axes.back().extent();
  std::vector<std::int64_t> visible;
  for (const auto position : rows.values)
    visible.push_back(table.causal ? std::clamp<std::int64_t>(position + 1, 0, width) : width);
  return visible;
}

/// Passes on the page up to a place to be filled in. The place itself is left out.
void HtmlWriter::write_page_until(std::string_view place) {
  const auto at = page_.find(place);
  sink_.write(page_.substr(0, at));
  page_.remove_prefix(at + place.size());
}

void HtmlWriter::begin(const TableDescription& description) {
  refuse_what_is_no_picture(description);
  visible_ = visible_cells(description);
  std::int64_t cells = 0;
  for (const auto width : visible_) cells += width;
  n_blocks_ = 1;
  for (std::size_t axis = 0; axis + 2 < description.axes.size(); ++axis) n_blocks_ *= description.axes[axis].extent();
  const auto code = choose_html_code(description.what, cells * n_blocks_);
  packer_ = HtmlPacker(code);

  write_page_until("@POLICY@");
  sink_.write(
      fmt::format("default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; "
                  "form-action 'none'",
                  to_base64(html_script_sha256), to_base64(html_style_sha256)));
  write_page_until("@STYLE@");
  sink_.write(html_style);
  write_page_until("@DATA@");

  std::string json = R"(<script type="application/json" id="description">{"model":)";
  put_json(description.model, json);
  json += R"(,"what":)";
  put_json(description.what, json);
  json += fmt::format(R"(,"code":"{}","causal":{},"axes":{},"tokens":{},"ramps":{}}})", name_of(code),
                      description.causal, axes_json(description.axes), tokens_json(description.tokens), ramps_json());
  sink_.write(json + "</script>\n");
}

void HtmlWriter::begin_block() {
  text_ += fmt::format(R"(<script type="application/octet-stream+base64" id="block-{}">)", ranges_.size());
  ranges_.emplace_back();
}

void HtmlWriter::end_block() {
  packer_.finish(text_);
  text_ += "</script>\n";
}

void HtmlWriter::row(std::span<const float> numbers) {
  text_.clear();
  if (row_ == 0) begin_block();
  const auto shown = numbers.first(static_cast<std::size_t>(visible_[row_]));
  packer_.append(shown, text_);
  ranges_.back().include(shown);
  if (++row_ == visible_.size()) {
    end_block();
    row_ = 0;
  }
  sink_.write(text_);
}

void HtmlWriter::end() {
  const auto complete = static_cast<std::int64_t>(ranges_.size());
  if (row_ != 0 || complete != n_blocks_)
    throw Error(ErrorCode::failed, fmt::format("html: expected {} tables of {} rows, found {} begun, the last with {}",
                                               n_blocks_, visible_.size(), complete, row_));
  std::string json = R"(<script type="application/json" id="ranges">[)";
  for (std::size_t block = 0; block < ranges_.size(); ++block) {
    if (block > 0) json += ',';
    json += ranges_[block].json();
  }
  sink_.write(json + "]</script>\n");
  write_page_until("@SCRIPT@");
  sink_.write(html_script);
  sink_.write(page_);
}

}  // namespace

std::unique_ptr<TableWriter> html_writer(Sink& sink) { return std::make_unique<HtmlWriter>(sink); }

}  // namespace qkv
