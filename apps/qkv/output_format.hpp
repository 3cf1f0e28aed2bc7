#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "qkv/inspect/table.hpp"
#include "qkv/io/sink.hpp"

namespace qkv::app {

struct WriterOptions {
  bool log_scale = false;  // of pictures
  bool color = false;      // of the table
};

/// One form of a table of numbers. A new one is one more file under inspect/writers and one line in output_format.cpp.
struct OutputFormat {
  std::string_view name;  // also the ending of a file name
  /// Whether a file that begins with these bytes is of this form and so may be replaced by a new one.
  bool (*recognises)(std::string_view begin);
  bool is_picture;  // with a scale of colours, which may be logarithmic
  /// Roughly, to tell the size beforehand; 0 where it does not grow with the numbers.
  double (*expected_bytes)(const TableDescription& description);
  std::unique_ptr<TableWriter> (*make)(Sink& sink, const WriterOptions& options);
};

[[nodiscard]] std::span<const OutputFormat> output_formats();

/// The format of that name; of the file's ending where the name is empty; the table where both are. Throws Error{usage}
/// naming what is known.
[[nodiscard]] const OutputFormat& find_format(std::string_view name, const std::filesystem::path& file);

/// Throws Error{usage} when the file exists and is neither empty nor of the same form, so that something else would be
/// lost. Not asked with --force.
void refuse_to_overwrite(const std::filesystem::path& file, const OutputFormat& format);

/// Writes bytes to standard output.
class StandardOutput : public Sink {
 public:
  void write(std::string_view bytes) override;
};

}  // namespace qkv::app
