#include "model_options.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "log.hpp"
#include "option_values.hpp"
#include "qkv/core/error.hpp"
#include "qkv/ops/linear.hpp"

namespace qkv::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Beside an installed program, else where the program was built.
fs::path embedded_model() {
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  const auto installed = program.parent_path().parent_path() / QKV_DATA_DIR / "qkv" / "models" / "nursery";
  const auto source = fs::path(QKV_SOURCE_DIR) / "models" / "nursery";
  for (const auto& candidate : {installed, source})
    if (fs::exists(candidate / "config.json", error)) return candidate;
  throw Error(ErrorCode::model, fmt::format("embedded model: expected in {} or {}, found in neither; -m names another",
                                            installed.string(), source.string()));
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names{"auto"};
  for (const auto& backend : ops::linear_backends()) names.emplace_back(backend.name);
  return names;
}

/// Every precision, whether or not a backend that is built in offers it: which one does is found when a model is
/// opened.
std::vector<std::string> precision_names() {
  return {std::string(ops::name_of(ops::Precision::f32)), std::string(ops::name_of(ops::Precision::bf16))};
}

}  // namespace

CLI::Option* ModelOptions::add_model_to(CLI::App& command) {
  auto* option = command.add_option("-m,--model", model, "Model directory, or file that holds a whole model")
                     ->type_name("DIR|FILE")
                     ->default_str("QKV_MODEL, else the embedded model");
  command
      .add_option("--ignore-key", ignored_keys, "Key of the config to ignore though it is not understood (repeatable)")
      ->type_name("KEY")
      ->allow_extra_args(false);
  return option;
}

void ModelOptions::add_to(CLI::App& command) {
  add_model_to(command);
  add_arithmetic_to(command);
  add_integer(command, "-t,--threads", threads, 1, most_threads, "Threads")
      ->default_str("what the process may use; 1 for very small models");
}

void ModelOptions::add_arithmetic_to(CLI::App& command) {
  add_name(command, "--backend", backend, backend_names(), "Who multiplies by the weights");
  add_name(command, "--precision", precision, precision_names(), "Arithmetic of the linear layers");
}

fs::path ModelOptions::path() const {
  if (!model.empty()) return model;
  if (const char* named = std::getenv("QKV_MODEL"); named != nullptr && *named != '\0') return named;
  return embedded_model();
}

LoadOptions ModelOptions::load_options(ProgressLine& line) const {
  const auto arithmetic = precision == "bf16" ? ops::Precision::bf16 : ops::Precision::f32;
  LoadOptions options{backend, arithmetic, ignored_keys, true, nullptr};
  if (log::shows_progress())
    options.progress = [&line](std::int64_t done, std::int64_t total) {
      if (line.is_due())
        line.show(fmt::format("loading: {} of {} MB ({} %)", done >> 20U, total >> 20U, done * 100 / total));
    };
  return options;
}

Model ModelOptions::load() const {
  ProgressLine line;
  const auto options = load_options(line);
  const auto begun = Clock::now();
  auto opened = Model::load(path(), options);
  log::debug(fmt::format("{}: family {}, {} tensors ({}), backend {}, {}, opened in {:.1f} ms", opened.path().string(),
                         opened.config().family, opened.tensors().size(), opened.format(), opened.backend(),
                         ops::name_of(opened.precision()),
                         std::chrono::duration<double, std::milli>(Clock::now() - begun).count()));
  return opened;
}

ModelFiles ModelOptions::open_files() const { return open_model_files(path(), ignored_keys); }

}  // namespace qkv::app
