// qkv info: what a model is.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "info_check.hpp"
#include "model_options.hpp"
#include "output.hpp"
#include "program.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/model/container.hpp"
#include "qkv/tokenizer/tokenizer.hpp"

namespace qkv::app {
namespace {

struct InfoCommand {
  ModelOptions model;
  std::string config;
  bool tensors = false;
  bool check = false;
  bool json = false;
};

std::vector<ConfigLine> facts(const ModelFiles& files, const std::optional<Tokenizer>& tokenizer) {
  auto lines = describe(files.config);
  lines.insert(lines.begin(),
               {{"model", files.config.name},
                {std::filesystem::is_directory(files.path) ? "directory" : "file", files.path.string()}});
  lines.push_back({"parameters", fmt::format("{}", files.config.parameter_count())});
  lines.push_back({"weights", fmt::format("{}, {} tensors, {} bytes", files.format, files.source->tensors().size(),
                                          files.byte_count())});
  lines.push_back({"tokenizer", tokenizer ? tokenizer->summary() : "none"});
  if (!files.ignored.empty()) lines.push_back({"not needed", fmt::format("{}", fmt::join(files.ignored, ", "))});
  return lines;
}

void write_lines(const std::vector<ConfigLine>& lines) {
  for (const auto& [what, value] : lines) write_out(fmt::format("{:<16} {}\n", what, escape_controls(value)));
}

/// A file of the native form has no header: its shape is the one that the config asks for.
const Shape& shape_of(const StoredTensor& tensor, const ModelFiles& files) {
  if (files.source->knows_shapes()) return tensor.shape;
  const auto asked = std::find_if(files.asked.begin(), files.asked.end(),
                                  [&](const AskedTensor& one) { return one.name == tensor.name; });
  return asked == files.asked.end() ? tensor.shape : asked->shape;
}

std::string tensor_table(const ModelFiles& files) {
  TextTable table({{"tensor"}, {"dtype"}, {"shape"}, {"bytes", true}});
  for (const auto& tensor : files.source->tensors())
    table.add({escape_controls(tensor.name), std::string(name_of(tensor.dtype)), to_string(shape_of(tensor, files)),
               fmt::format("{}", tensor.bytes.size())});
  return table.text();
}

OrderedJson to_json(const ModelFiles& files, const std::optional<Tokenizer>& tokenizer, bool tensors) {
  OrderedJson object{{"schema", "qkv.info/1"}};
  for (const auto& [what, value] : facts(files, tokenizer)) put_text(object, what, value);
  object["parameters"] = files.config.parameter_count();
  object["bytes"] = files.byte_count();
  object["not needed"] = files.ignored;
  if (!tensors) return object;
  auto& list = object["tensors"] = OrderedJson::array();
  for (const auto& tensor : files.source->tensors())
    list.push_back({{"name", tensor.name},
                    {"dtype", name_of(tensor.dtype)},
                    {"shape", shape_of(tensor, files)},
                    {"bytes", tensor.bytes.size()}});
  return object;
}

int show_model(const InfoCommand& info) {
  const auto files = info.model.open_files();
  const auto tokenizer = Tokenizer::open(tokenizer_path(files.path));
  std::optional<CheckReport> check;
  if (info.check) check.emplace(files);
  if (info.json) {
    auto object = to_json(files, tokenizer, info.tensors);
    if (check) object["check"] = check->json(info.tensors);
    write_out(object.dump() + "\n");
  } else {
    write_lines(facts(files, tokenizer));
    if (info.tensors) write_out("\n" + tensor_table(files));
    if (check) write_out("\n" + check->text(info.tensors));
  }
  if (check) check->require_finite();
  return ok;
}

/// As far as a config.json goes: what would be computed, and which tensors would have to be there.
int show_config(const InfoCommand& info) {
  const auto outline = outline_model(JsonReader::open(info.config), info.model.ignored_keys);
  const auto parameters = outline.config.parameter_count();
  if (info.json) {
    OrderedJson object{{"schema", "qkv.info/1"}};
    put_text(object, "config", info.config);
    for (const auto& [what, value] : describe(outline.config)) put_text(object, what, value);
    object["parameters"] = parameters;
    auto& list = object["tensors"] = OrderedJson::array();
    for (const auto& tensor : outline.asked) list.push_back({{"name", tensor.name}, {"shape", tensor.shape}});
    write_out(object.dump() + "\n");
    return ok;
  }
  auto lines = describe(outline.config);
  lines.insert(lines.begin(), {"config", info.config});
  lines.push_back({"parameters", fmt::format("{}", parameters)});
  lines.push_back({"weights", fmt::format("{} tensors expected", outline.asked.size())});
  write_lines(lines);
  TextTable table({{"tensor"}, {"shape"}});
  for (const auto& tensor : outline.asked) table.add({tensor.name, to_string(tensor.shape)});
  write_out("\n" + table.text());
  return ok;
}

}  // namespace

void add_info_command(Program& program) {
  auto* command = program.cli.add_subcommand("info", "Show what a model is");
  auto info = std::make_shared<InfoCommand>();
  auto* model = info->model.add_model_to(*command);
  auto* check = command->add_flag("--check", info->check, "Read every weight and report those that are not finite");
  command->add_option("--config", info->config, "Only a config.json: what it says, and the tensors that belong to it")
      ->type_name("FILE")
      ->excludes(model)
      ->excludes(check);
  command->add_flag("--tensors", info->tensors, "List every stored tensor; with --check what its numbers are like");
  command->add_flag("--json", info->json, "As one JSON object");
  command->callback([&program, info] {
    program.run = [info] { return info->config.empty() ? show_model(*info) : show_config(*info); };
  });
}

}  // namespace qkv::app
