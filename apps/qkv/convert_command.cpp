// qkv convert: writes a model that opens in the project's own form.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>

#include "interrupt.hpp"
#include "log.hpp"
#include "option_values.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress_line.hpp"
#include "qkv/core/error.hpp"
#include "qkv/io/new_directory.hpp"
#include "qkv/model/convert.hpp"

namespace qkv::app {
namespace {

namespace fs = std::filesystem;

struct ConvertCommand {
  std::string from;
  std::string to;
  WeightForm form = WeightForm::native;
  std::optional<DType> dtype;
  std::vector<std::string> ignored_keys;
  bool force = false;
};

/// Whether `inner` is `outer` or lies below it, links followed.
bool is_within(const fs::path& inner, const fs::path& outer) {
  std::error_code ignored;
  const auto top = fs::weakly_canonical(outer, ignored);
  for (auto path = fs::weakly_canonical(inner, ignored); !path.empty(); path = path.parent_path()) {
    if (path == top) return true;
    if (path == path.root_path()) break;
  }
  return false;
}

/// Refuses a target that somebody could miss. Nothing is removed here.
void check_target(const ConvertCommand& convert) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(convert.to, ignored))) return;
  if (!convert.force)
    throw Error(ErrorCode::usage,
                fmt::format("{}: expected nothing there, found something; --force replaces an empty directory or a "
                            "model that convert wrote",
                            convert.to));
  if (is_within(convert.from, convert.to))
    throw Error(ErrorCode::usage, fmt::format("{}: expected another directory than that of the model read, found {}",
                                              convert.to, convert.from));
  (void)converted_files(convert.to);
}

/// What is there is looked at again, since it may have changed while the new model was written.
void put_in_place(NewDirectory& directory, const fs::path& to) {
  std::error_code ignored;
  if (fs::exists(to, ignored) && !fs::is_empty(to, ignored))
    directory.commit_over(converted_files(to));
  else
    directory.commit();
}

void write(const ConvertCommand& convert, const ModelFiles& files, const ConversionPlan& plan,
           const fs::path& directory) {
  ProgressLine line;
  const bool shows = log::shows_progress();
  write_converted(files, plan, convert.form, directory, [&](std::int64_t done, std::int64_t total) {
    stop_if_interrupted();
    if (shows && line.is_due())
      line.show(fmt::format("writing: {} of {} MB ({} %)", done >> 20U, total >> 20U, done * 100 / total));
  });
}

int run(const ConvertCommand& convert) {
  check_target(convert);
  const auto files = open_model_files(convert.from, convert.ignored_keys);
  const auto plan = plan_conversion(files, convert.dtype);
  log::info(fmt::format("{}: {} tensors, {} bytes as {}", convert.to, plan.tensors.size(), plan.byte_count(),
                        name_of(plan.dtype)));
  catch_interrupts();
  NewDirectory directory(convert.to);
  write(convert, files, plan, directory.path());
  const auto copied = copy_tokenizer(files.path, directory.path());
  (void)open_model_files(directory.path());  // what does not open is not left behind
  stop_if_interrupted();
  put_in_place(directory, convert.to);
  if (copied.empty())
    log::warn(fmt::format("{}: no tokenizer there, so the model written has none either", convert.from));
  else
    log::debug(fmt::format("copied {}", fmt::join(copied, ", ")));
  return ok;
}

}  // namespace

void add_convert_command(Program& program) {
  auto* command = program.cli.add_subcommand("convert", "Write a model in the project's own form");
  auto convert = std::make_shared<ConvertCommand>();
  command->add_option("FROM", convert->from, "Any model that opens")->type_name("DIR|FILE")->required();
  command->add_option("TO", convert->to, "Directory to write, complete or not at all")->type_name("DIR")->required();
  add_choice<WeightForm>(*command, "--to", convert->form,
                         {{"native", WeightForm::native}, {"safetensors", WeightForm::safetensors}},
                         "Weights as one file a tensor, or all in one")
      ->default_str("")
      ->required();
  add_choice<std::optional<DType>>(*command, "--dtype", convert->dtype,
                                   {{"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16}},
                                   "How numbers are kept")
      ->default_str("that of the weights where they have one, else f32");
  command->add_option("--ignore-key", convert->ignored_keys, "Key of config.json to ignore (repeatable)")
      ->type_name("KEY")
      ->allow_extra_args(false);
  command->add_flag("--force", convert->force, "Replace an empty directory or a model that convert wrote");
  command->callback([&program, convert] { program.run = [convert] { return run(*convert); }; });
}

}  // namespace qkv::app
