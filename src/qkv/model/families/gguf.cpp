#include "qkv/io/formats/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/io/mapped_file.hpp"
#include "qkv/model/config_keys.hpp"
#include "qkv/model/families/families.hpp"
#include "qkv/model/families/gguf_architectures.hpp"
#include "qkv/model/families/gguf_rotary.hpp"

/// A GGUF file as a model: its metadata becomes the config.json of the family that its architecture belongs to, and the
/// family's names of tensors are turned into those of the file. Metadata that is about the arithmetic and not
/// understood goes into the config under its own name, where it is refused like any other key.
namespace qkv {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Rotary = GgufArchitecture::Rotary;
using Change = GgufName::Change;

/// Keys that change nothing at this value, without the architecture's name in front.
const std::array<std::pair<std::string_view, json>, 8> neutral_values{{{"expert_count", 0},
                                                                       {"expert_used_count", 0},
                                                                       {"attention.causal", true},
                                                                       {"attention.max_alibi_bias", 0.0},
                                                                       {"attention.clamp_kqv", 0.0},
                                                                       {"tensor_data_layout", "reference"},
                                                                       {"tensor_data_layout", "jploski"},
                                                                       {"tensor_data_layout", "Meta AI original pth"}}};

/// What belongs to the tokenizer, and what is told about the file and its making.
constexpr std::array telling_keys{"general.", "tokenizer.", "quantize.", "training."};

bool begins_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool is_telling(std::string_view key) {
  return std::any_of(telling_keys.begin(), telling_keys.end(),
                     [&](std::string_view start) { return begins_with(key, start); });
}

bool is_neutral(std::string_view part, const json& value) {
  return std::any_of(neutral_values.begin(), neutral_values.end(),
                     [&](const auto& neutral) { return neutral.first == part && neutral.second == value; });
}

/// "attn_q.weight" as stem and ending, the point with the ending.
std::pair<std::string_view, std::string_view> split_ending(std::string_view name) {
  const auto point = name.rfind('.');
  return point == std::string_view::npos ? std::pair(name, std::string_view())
                                         : std::pair(name.substr(0, point), name.substr(point));
}

/// The number with which `text` begins and a point ends, taken off it; as text, since only its place matters.
std::string_view take_number(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  if (end == 0 || end == text.size() || text[end] != '.') return {};
  const auto number = text.substr(0, end);
  text.remove_prefix(end + 1);
  return number;
}

template <typename Match>
const GgufName* find_name(const std::vector<GgufName>& names, Match match) {
  const auto found = std::find_if(names.begin(), names.end(), match);
  return found == names.end() ? nullptr : &*found;
}

struct HeadCounts {
  std::int64_t n_heads;
  std::int64_t n_kv_heads;
};

/// The file's tensors, which a family asks for by its own names.
class GgufWeights : public WeightSource {
 public:
  GgufWeights(std::shared_ptr<const GgufFile> file, const GgufArchitecture& architecture, const HeadCounts& heads)
      : file_(std::move(file)), architecture_(architecture) {
    for (auto tensor : file_->tensors()) {
      if (is_rotary_factors(tensor.name)) continue;  // they are in the config by now
      const auto change = change_of(tensor.name);
      tensor.transposed = change == Change::transposed && tensor.shape.size() == 2;
      if (change == Change::ungrouped) group(tensor, heads);
      tensors_.push_back(std::move(tensor));
    }
  }
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  void release(const StoredTensor& tensor) const override {
    const auto is_it = [&](const auto& bytes) { return bytes.data() == tensor.bytes.data(); };
    if (std::none_of(grouped_.begin(), grouped_.end(), is_it)) release_pages(tensor.bytes);  // else there is no file
  }

  [[nodiscard]] std::string name_in_file(const std::string& published) const override {
    const auto [stem, ending] = split_ending(published);
    const bool in_block = begins_with(stem, architecture_.block);
    auto part = stem;
    if (in_block) part.remove_prefix(architecture_.block.size());
    const auto number = in_block ? take_number(part) : std::string_view();
    const auto* name = find_name(number.empty() ? architecture_.tensors : architecture_.in_block,
                                 [&](const GgufName& one) { return one.published == part; });
    if (name == nullptr) return published;
    return number.empty() ? fmt::format("{}{}", name->stored, ending)
                          : fmt::format("blk.{}.{}{}", number, name->stored, ending);
  }

 private:
  [[nodiscard]] Change change_of(std::string_view stored) const {
    auto part = split_ending(stored).first;
    if (!begins_with(part, "blk.")) return Change::none;
    part.remove_prefix(4);
    (void)take_number(part);
    const auto* name = find_name(architecture_.in_block, [&](const GgufName& one) { return one.stored == part; });
    return name == nullptr ? Change::none : name->change;
  }

  /// Puts the rows (or the numbers of a bias) back into groups: the queries of a key/value head, its keys, its values.
  /// Rows that cannot be those of such heads are left to the binder, which knows what is wrong with them.
  void group(StoredTensor& tensor, const HeadCounts& heads) {
    const auto n_parts = heads.n_heads + 2 * heads.n_kv_heads;
    if (tensor.shape.front() % n_parts != 0 || heads.n_heads % heads.n_kv_heads != 0) return;
    const auto part = tensor.bytes.size() / static_cast<std::size_t>(n_parts);  // of one head
    const auto queries = part * static_cast<std::size_t>(heads.n_heads / heads.n_kv_heads);
    const auto keys = part * static_cast<std::size_t>(heads.n_heads);
    const auto values = keys + part * static_cast<std::size_t>(heads.n_kv_heads);
    auto& to = grouped_.emplace_back();
    to.reserve(tensor.bytes.size());
    const auto append = [&](std::size_t first, std::size_t count) {
      const auto bytes = tensor.bytes.subspan(first, count);
      to.insert(to.end(), bytes.begin(), bytes.end());
    };
    for (std::size_t head = 0; head < static_cast<std::size_t>(heads.n_kv_heads); ++head) {
      append(head * queries, queries);
      append(keys + head * part, part);
      append(values + head * part, part);
    }
    tensor.bytes = to;
  }

  std::deque<std::vector<std::byte>> grouped_;
  std::shared_ptr<const GgufFile> file_;
  const GgufArchitecture& architecture_;
  std::vector<StoredTensor> tensors_;
};

const StoredTensor* find_stored(const GgufFile& file, std::string_view name) {
  const auto found = std::find_if(file.tensors().begin(), file.tensors().end(),
                                  [&](const StoredTensor& tensor) { return tensor.name == name; });
  return found == file.tensors().end() ? nullptr : &*found;
}

const GgufArchitecture& find_architecture(const JsonReader& metadata) {
  const auto wanted = metadata.text("general.architecture");
  std::string names;
  for (const auto& architecture : gguf_architectures()) {
    if (architecture.name == wanted) return architecture;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", architecture.name);
  }
  metadata.fail("general.architecture", fmt::format("one of {}", names));
}

/// What is the same for all architectures and must be so.
void check_general(const JsonReader& metadata) {
  if (metadata.text_or("general.type", "model") != "model") metadata.fail("general.type", "\"model\"");
  if (metadata.integer_or("general.quantization_version", 2, {}) != 2)
    metadata.fail("general.quantization_version", "2");
  if (metadata.integer_or("split.count", 0, {}) > 1)
    metadata.fail("split.count", "1 (a model in one file; llama-gguf-split --merge puts the parts together)");
}

/// Builds the family's config.json out of the metadata.
class ConfigBuilder {
 public:
  ConfigBuilder(const GgufFile& file, const GgufArchitecture& architecture, const JsonReader& metadata)
      : file_(file), architecture_(architecture), metadata_(metadata), config_(json::parse(architecture.fixed)) {}

  JsonReader build() {
    add_vocabulary();
    for (const auto& flag : architecture_.flags)
      if (find_stored(file_, fmt::format("blk.0.{}", flag.stored)) != nullptr) config_[flag.published] = true;
    config_["tie_word_embeddings"] = find_stored(file_, "output.weight") == nullptr;
    if (architecture_.rotary != Rotary::none) add_rotary(file_, metadata_, architecture_, config_);
    add_token("bos");
    add_token("eos");
    metadata_.ignore("split.count");
    for (const auto& name : architecture_.keys) add_known(name);
    if (architecture_.complete != nullptr) architecture_.complete(metadata_, config_);
    for (const auto& key : metadata_.unread()) add_unknown(key);
    return {file_.where(), std::move(config_), std::move(spellings_)};
  }

 private:
  [[nodiscard]] std::string full(std::string_view part) const { return fmt::format("{}.{}", architecture_.name, part); }

  void add_vocabulary() {
    const auto* tokens = find_stored(file_, "token_embd.weight");
    if (tokens == nullptr || tokens->shape.size() != 2)
      throw Error(ErrorCode::model,
                  fmt::format("{}: tensor 'token_embd.weight': expected a matrix, found {}", file_.where(),
                              tokens == nullptr ? "nothing" : to_string(tokens->shape)));
    const auto n_vocab = tokens->shape.front();
    const auto key = full("vocab_size");
    if (metadata_.integer_or(key, n_vocab, {}) != n_vocab)
      metadata_.fail(key, fmt::format("{}, as many as token_embd.weight has rows", n_vocab));
    config_["vocab_size"] = n_vocab;
  }

  void add_token(std::string_view which) {
    const auto key = fmt::format("tokenizer.ggml.{}_token_id", which);
    const auto published = fmt::format("{}_token_id", which);
    spellings_[published] = key;
    if (metadata_.has(key)) config_[published] = metadata_.integer(key, {});
  }

  void add_known(const GgufName& name) {
    auto key = full(name.stored);
    if (metadata_.has(key)) config_[name.published] = metadata_.raw(key);
    spellings_.emplace(name.published, std::move(key));
  }

  /// A key that nobody has read: under its own name, unless it changes nothing.
  void add_unknown(const std::string& key) {
    const auto start = full("");
    const auto& value = metadata_.raw(key);
    if (is_telling(key) || (begins_with(key, start) && is_neutral(key.substr(start.size()), value))) return;
    if (key == full("attention.head_count_kv") && value == metadata_.raw(full("attention.head_count"))) return;
    config_[key] = value;
  }

  const GgufFile& file_;
  const GgufArchitecture& architecture_;
  const JsonReader& metadata_;
  json config_;
  std::map<std::string, std::string, std::less<>> spellings_;
};

/// Tokens that end a turn or a message, besides the end of a text.
std::vector<std::int64_t> further_end_tokens(const JsonReader& metadata) {
  std::vector<std::int64_t> ids;
  for (const auto* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
    if (metadata.has(key)) ids.push_back(metadata.integer(key, {}));
  return ids;
}

HeadCounts read_heads(const JsonReader& metadata, const GgufArchitecture& architecture) {
  const auto n_heads = metadata.integer(fmt::format("{}.attention.head_count", architecture.name), head_range);
  return {n_heads,
          metadata.integer_or(fmt::format("{}.attention.head_count_kv", architecture.name), n_heads, head_range)};
}

fs::path file_of(const fs::path& path) { return only_file(path, ".gguf").value_or(path); }

ContainerFiles open(const fs::path& path) {
  const auto file = GgufFile::open(file_of(path));
  const JsonReader metadata(file->where(), file->json());
  const auto& architecture = find_architecture(metadata);
  check_general(metadata);
  const auto name = replace_invalid_utf8(metadata.text_or("general.name", ""));
  auto end_tokens = further_end_tokens(metadata);
  auto config = ConfigBuilder(*file, architecture, metadata).build();
  const auto heads = read_heads(metadata, architecture);
  return {std::move(config),
          [file, &architecture, heads] {
            return OpenedWeights{"GGUF", std::make_shared<GgufWeights>(file, architecture, heads)};
          },
          std::move(end_tokens),
          [&architecture, name](Config& made) {
            if (architecture.rotary == Rotary::pairs) made.position.rotary.layout = ops::RotaryLayout::pairs;
            if (architecture.adjust != nullptr) architecture.adjust(made);
            made.name = name;
          }};
}

}  // namespace

Container gguf_container() {
  return {"GGUF", [](const fs::path& path) { return GgufFile::recognises(file_of(path)); }, open, file_of};
}

}  // namespace qkv
