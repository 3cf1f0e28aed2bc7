#include "output_format.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>

#include "output.hpp"
#include "qkv/core/error.hpp"
#include "qkv/draw/canvas.hpp"
#include "qkv/inspect/writers/csv_writer.hpp"
#include "qkv/inspect/writers/html_writer.hpp"
#include "qkv/inspect/writers/json_writer.hpp"
#include "qkv/inspect/writers/npy_writer.hpp"
#include "qkv/inspect/writers/picture_writer.hpp"
#include "qkv/inspect/writers/safetensors_writer.hpp"
#include "qkv/inspect/writers/text_writer.hpp"

namespace qkv::app {
namespace {

/// Columns of the terminal; of COLUMNS, or 100, where standard output is none.
std::int64_t terminal_width() {
  constexpr std::int64_t usual = 100;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  if (columns == nullptr) return usual;
  const std::string_view text(columns);
  std::int64_t width = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), width);
  return parsed.ec == std::errc() && width > 0 ? width : usual;
}

template <PictureFormat Format>
std::unique_ptr<TableWriter> make_picture(Sink& sink, const WriterOptions& options) {
  PictureOptions picture;
  picture.log_scale = options.log_scale;
  return picture_writer(sink, Format, picture);
}

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

/// Any program's SVG begins like ours but for the fonts that ours asks for.
bool is_svg(std::string_view begin) {
  return begins_with(begin, "<?xml") && begin.find(draw::font_families) != std::string_view::npos;
}

/// The first line of every table and csv names its axes.
bool is_table(std::string_view begin) {
  return begin.substr(0, begin.find('\n')).find(": row = ") != std::string_view::npos;
}
bool is_csv(std::string_view begin) {
  return begins_with(begin, "layer,") || begins_with(begin, "position,") || begins_with(begin, "query,");
}

/// How many numbers a table has, and how many of them a query may see.
struct Cells {
  double all = 1.0;
  double visible = 1.0;
};
Cells count_cells(const TableDescription& description) {
  Cells cells;
  for (const auto& axis : description.axes) cells.all *= static_cast<double>(axis.extent());
  const auto n = static_cast<double>(description.axes.back().extent());
  cells.visible = description.causal && n > 0 ? cells.all * (n + 1) / (2 * n) : cells.all;
  return cells;
}

template <int Visible, int Masked>
double bytes_by_number(const TableDescription& description) {
  const auto cells = count_cells(description);
  return Visible * cells.visible + Masked * (cells.all - cells.visible);
}

/// A line a number: the number itself, its place on every axis, and the text of its tokens.
double csv_bytes(const TableDescription& description) {
  double line = 14.0;
  for (const auto& axis : description.axes) {
    if (axis.values.empty()) return 0.0;
    line += 0.5 + static_cast<double>(fmt::formatted_size("{}", axis.values.back()));
    if (axis.name == "query" || axis.name == "key" || axis.name == "position") line += 5.0;
  }
  return line * count_cells(description).visible;
}

constexpr std::array<OutputFormat, 9> formats{{
    {"table", is_table, false, bytes_by_number<8, 0>,
     [](Sink& sink, const WriterOptions& options) {
       return text_writer(sink, {terminal_width(), options.color});
     }},
    {"csv", is_csv, false, csv_bytes, [](Sink& sink, const WriterOptions&) { return csv_writer(sink); }},
    {"json", [](std::string_view begin) { return begins_with(begin, "{\"schema\":\"qkv."); }, false,
     bytes_by_number<12, 3>, [](Sink& sink, const WriterOptions&) { return json_writer(sink); }},
    {"npy", [](std::string_view begin) { return begins_with(begin, "\x93NUMPY"); }, false, bytes_by_number<4, 4>,
     [](Sink& sink, const WriterOptions&) { return npy_writer(sink); }},
    {"safetensors",
     [](std::string_view begin) {
       return begin.size() > 8 && begins_with(begin.substr(8), "{\"__metadata__\":{\"model\":");
     },
     false, bytes_by_number<4, 4>, [](Sink& sink, const WriterOptions&) { return safetensors_writer(sink); }},
    {"png", [](std::string_view begin) { return begins_with(begin, "\x89PNG"); }, true, bytes_by_number<0, 0>,
     make_picture<PictureFormat::png>},
    {"svg", is_svg, true, bytes_by_number<0, 0>, make_picture<PictureFormat::svg>},
    {"pdf", [](std::string_view begin) { return begins_with(begin, "%PDF"); }, true, bytes_by_number<0, 0>,
     make_picture<PictureFormat::pdf>},
    {"html", [](std::string_view begin) { return begins_with(begin, "<!doctype html>"); }, false, bytes_by_number<4, 0>,
     [](Sink& sink, const WriterOptions&) { return html_writer(sink); }},
}};

}  // namespace

std::span<const OutputFormat> output_formats() { return formats; }

const OutputFormat& find_format(std::string_view name, const std::filesystem::path& file) {
  const auto ending = file.extension().string();
  const auto wanted = !name.empty()  ? std::string(name)
                      : file.empty() ? "table"
                                     : ending.substr(ending.empty() ? 0 : 1);
  std::string names;
  for (const auto& format : formats) {
    if (format.name == wanted || (wanted == "txt" && format.name == "table")) return format;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  throw Error(ErrorCode::usage, fmt::format("{}: expected --format or an ending, one of {}, found '{}'",
                                            file.empty() ? "--format" : file.string(), names, wanted));
}

void refuse_to_overwrite(const std::filesystem::path& file, const OutputFormat& format) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored) || std::filesystem::file_size(file, ignored) == 0) return;
  constexpr std::size_t looked_at = 256;
  std::string begin(looked_at, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(stream.gcount()));
  if (format.recognises(begin)) return;
  throw Error(ErrorCode::usage, fmt::format("{}: expected no such file or an earlier {} output, found something else; "
                                            "--force overwrites it",
                                            file.string(), format.name));
}

void StandardOutput::write(std::string_view bytes) { write_out(bytes); }

}  // namespace qkv::app
