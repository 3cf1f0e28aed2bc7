#include "table_output.hpp"

#include <fmt/format.h>

#include <memory>

#include "interrupt.hpp"
#include "log.hpp"
#include "option_values.hpp"
#include "output.hpp"
#include "qkv/core/error.hpp"

namespace qkv::app {
namespace {

constexpr double large = 1U << 30U;  // asks for --force
constexpr double worth_telling = 1U << 20U;

std::string human_size(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.2f} GB", bytes / 1e9);
}

/// Hands everything on until Ctrl-C: a table is complete or absent.
class InterruptibleWriter : public TableWriter {
 public:
  explicit InterruptibleWriter(TableWriter& writer) : writer_(writer) {}
  void begin(const TableDescription& description) override { writer_.begin(description); }
  void row(std::span<const float> numbers) override {
    stop_if_interrupted();
    writer_.row(numbers);
  }
  void end() override { writer_.end(); }

 private:
  TableWriter& writer_;
};

}  // namespace

void TableOutput::add_to(CLI::App& command) {
  std::vector<std::string> names;
  for (const auto& one : output_formats()) names.emplace_back(one.name);
  add_name(command, "--format", format, names, "Output form")->default_str("by the ending of -o, else table");
  command.add_option("-o,--output", file, "File to write, complete or not at all; - for standard output")
      ->type_name("FILE");
  command.add_flag("--force", force, "Allow more than 1 GiB, and overwriting what is no earlier output");
  command.add_flag("--log", log_scale, "Pictures: a logarithmic colour scale");
}

bool TableOutput::goes_to_stdout() const { return file.empty() || file == "-" || file == "/dev/stdout"; }

const OutputFormat& TableOutput::chosen_format() const {
  return find_format(format, goes_to_stdout() ? std::string() : file);
}

void TableOutput::check() const {
  const auto& chosen = chosen_format();
  if (log_scale && !chosen.is_picture)
    throw Error(ErrorCode::usage,
                fmt::format("--log: expected a picture (png, svg or pdf) with it, found {}", chosen.name));
  if (!goes_to_stdout() && !force) refuse_to_overwrite(file, chosen);
}

void TableOutput::announce(const TableDescription& description) const {
  const auto& chosen = chosen_format();
  const auto shape = to_string(description.shape());
  const auto expected = chosen.expected_bytes(description);
  if (expected > large && !force)
    throw Error(ErrorCode::usage, fmt::format("output: expected at most 1 GiB without --force, found about {} for {}",
                                              human_size(expected), shape));
  const auto told = fmt::format("{} of {} numbers, about {}", chosen.name, shape, human_size(expected));
  if (expected > worth_telling)
    log::info(told);
  else
    log::debug(told);
}

void TableOutput::write(const std::function<void(TableWriter&)>& fill) const {
  const auto& chosen = chosen_format();
  catch_interrupts();
  if (goes_to_stdout()) {
    StandardOutput sink;
    const auto writer = chosen.make(sink, {log_scale, log::colors_stdout()});
    InterruptibleWriter interruptible(*writer);
    return fill(interruptible);
  }
  AtomicFile sink(file);
  const auto writer = chosen.make(sink, {log_scale, false});
  InterruptibleWriter interruptible(*writer);
  fill(interruptible);
  sink.commit();
}

}  // namespace qkv::app
