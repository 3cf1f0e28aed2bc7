// qkv tokenize: text to token ids, and back.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "model_options.hpp"
#include "option_values.hpp"
#include "output.hpp"
#include "program.hpp"
#include "prompt_options.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/model/container.hpp"
#include "qkv/model/family.hpp"

namespace qkv::app {
namespace {

struct TokenizeCommand {
  ModelOptions model;
  PromptOptions prompt;
  std::string format = "table";
  bool decode = false;
  bool lines = false;
  std::vector<std::string> ids;  // with --decode
};

Tokenizer open_tokenizer(const TokenizeCommand& tokenize) {
  const auto model = tokenize.model.path();
  auto tokenizer = tokenize.prompt.open_tokenizer(model);
  if (!tokenizer)
    throw Error(
        ErrorCode::model,
        fmt::format(
            "{}: expected a tokenizer (tokenizer.json, vocab.json and merges.txt, tokenizer.model, ...), found none",
            model.string()));
  return std::move(*tokenizer);
}

/// The model's begin token, which only --bos yes needs; where there is no model, what the tokenizer calls so.
std::optional<TokenId> find_bos(const TokenizeCommand& tokenize, const Tokenizer& tokenizer) {
  if (tokenize.prompt.bos != Bos::yes) return std::nullopt;
  const auto path = tokenize.model.path();
  if (tokenizer.bos() && std::filesystem::is_directory(path) && !std::filesystem::exists(path / "config.json"))
    return tokenizer.bos();
  const auto found = open_container(path);
  return read_config(find_family(found.config), found.config, tokenize.model.ignored_keys).bos;
}

OrderedJson pieces_json(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  auto pieces = OrderedJson::array();
  for (const auto id : ids) pieces.push_back(replace_invalid_utf8(tokenizer.piece(id)));
  return pieces;
}

std::string table(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  TextTable table({{"position", true}, {"id", true}, {"text"}, {"piece"}});
  for (std::size_t i = 0; i < ids.size(); ++i)
    table.add({fmt::format("{}", i), fmt::format("{}", ids[i]),
               fmt::format("'{}'", escape_controls(tokenizer.bytes(ids[i]))),
               escape_controls(tokenizer.piece(ids[i]))});
  return table.text();
}

void write_ids(const TokenizeCommand& tokenize, const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  if (tokenize.format == "ids") {
    write_out(fmt::format("{}\n", fmt::join(ids, ",")));
  } else if (tokenize.format == "json") {
    OrderedJson object{{"schema", "qkv.tokenize/1"}, {"ids", ids}};
    object["pieces"] = pieces_json(tokenizer, ids);
    write_out(object.dump() + "\n");
  } else {
    write_out(table(tokenizer, ids));
  }
}

/// Calls `each` with the JSON of every line. Throws Error{input} that begins with the number of the line, from 1.
void for_each_line(std::string_view text, const std::function<void(const nlohmann::json&)>& each) {
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto where = fmt::format("line {}", ++number);
    try {
      each(parse_json(line, where, false));
    } catch (const Error& e) {
      const std::string message = e.what();
      throw Error(ErrorCode::input, message.rfind(where, 0) == 0 ? message : fmt::format("{}: {}", where, message));
    }
  }
}

void encode_line(const TokenizeCommand& tokenize, const Tokenizer& tokenizer, std::optional<TokenId> bos,
                 const nlohmann::json& line) {
  if (!line.is_string())
    throw Error(ErrorCode::input, fmt::format("expected a JSON string, found a JSON {}", line.type_name()));
  const auto ids = tokenize.prompt.encode(tokenizer, line.get<std::string>(), bos);
  OrderedJson object{{"ids", ids}};
  object["pieces"] = pieces_json(tokenizer, ids);
  write_out(object.dump() + "\n");
}

void decode_line(const TokenizeCommand& tokenize, const Tokenizer& tokenizer, const nlohmann::json& line) {
  const auto& array = line.is_object() && line.contains("ids") ? line["ids"] : line;
  if (!array.is_array())
    throw Error(ErrorCode::input, fmt::format("expected a JSON array of ids, found a JSON {}", array.type_name()));
  const auto ids = parse_ids(array.dump(), "--lines");
  OrderedJson object;
  put_text(object, "text", tokenizer.decode(ids, tokenize.prompt.special));
  write_out(object.dump() + "\n");
}

std::vector<TokenId> ids_to_decode(const TokenizeCommand& tokenize) {
  if (tokenize.prompt.has_ids()) return parse_ids(tokenize.prompt.ids, "--ids");
  if (!tokenize.ids.empty()) return parse_ids(fmt::format("{}", fmt::join(tokenize.ids, " ")), "--decode");
  return parse_ids(tokenize.prompt.read_text(), "--decode");
}

int run(const TokenizeCommand& tokenize) {
  if (!tokenize.decode && !tokenize.ids.empty())
    throw Error(ErrorCode::usage,
                fmt::format("tokenize: expected the text with -p, found '{}'; ids go with --decode", tokenize.ids[0]));
  if (!tokenize.decode) tokenize.prompt.check_ids_alone();
  const auto tokenizer = open_tokenizer(tokenize);
  const auto bos = tokenize.decode ? std::nullopt : find_bos(tokenize, tokenizer);
  if (tokenize.lines) {
    for_each_line(tokenize.prompt.read_text(), [&](const nlohmann::json& line) {
      if (tokenize.decode)
        decode_line(tokenize, tokenizer, line);
      else
        encode_line(tokenize, tokenizer, bos, line);
    });
  } else if (tokenize.decode) {
    write_out(tokenizer.decode(ids_to_decode(tokenize), tokenize.prompt.special));
  } else {
    write_ids(tokenize, tokenizer, tokenize.prompt.read_ids(&tokenizer, bos));
  }
  return ok;
}

}  // namespace

void add_tokenize_command(Program& program) {
  auto* command = program.cli.add_subcommand("tokenize", "Show how text becomes token ids, and back");
  auto tokenize = std::make_shared<TokenizeCommand>();
  tokenize->model.add_model_to(*command);
  tokenize->prompt.add_to(*command);
  auto* format = add_name(*command, "--format", tokenize->format, {"table", "json", "ids"}, "Output");
  command->add_flag("--decode", tokenize->decode, "The other way: ids from the arguments or standard input to bytes");
  command->add_flag("--lines", tokenize->lines, "One JSON string a line in, one JSON object a line out")
      ->excludes(format);
  command->add_option("ids", tokenize->ids, "Ids for --decode");
  command->callback([&program, tokenize] { program.run = [tokenize] { return run(*tokenize); }; });
}

}  // namespace qkv::app
