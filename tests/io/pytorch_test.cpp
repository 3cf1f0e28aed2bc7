// Files of torch.save: what PyTorch wrote, read back, and one case for each way to be wrong.

#include "qkv/io/formats/pytorch.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "qkv/io/formats/safetensors.hpp"
#include "qkv/model/session.hpp"
#include "support/catch.hpp"
#include "support/loaded.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "support/torch_file.hpp"

namespace qkv::test {
namespace {

namespace fs = std::filesystem;

fs::path data() { return fs::path(QKV_TEST_DATA) / "pytorch"; }

std::unique_ptr<WeightSource> opened(const std::string& bytes) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "x.bin", bytes);
  return open_pytorch({directory.path() / "x.bin"});
}

void check_bytes_refused(const std::string& bytes, std::vector<std::string> parts) {
  parts.emplace_back("x.bin: ");
  check_refused(
      ErrorCode::model, [&] { (void)opened(bytes); }, parts);
}

/// An archive of this pickle and a storage of six f32.
std::string archive(const std::string& pickle) {
  return zip_file({{"x/data.pkl", pickle}, {"x/data/0", std::string(24, '\1')}, {"x/version", "3\n"}});
}
void check_pickle_refused(const std::string& pickle, const std::vector<std::string>& parts) {
  check_bytes_refused(archive(pickle), parts);
}

std::string six() { return pickled::storage("FloatStorage", "0", 6); }

/// One tensor 'w' on the six numbers.
std::string one_tensor(std::int64_t offset, const Shape& shape, const Shape& strides) {
  return pickled::dictionary({pickled::text("w"), pickled::tensor(six(), offset, shape, strides)});
}
void check_tensor_refused(std::int64_t offset, const Shape& shape, const Shape& strides, const std::string& why) {
  CAPTURE(offset, to_string(shape), to_string(strides));
  check_pickle_refused(one_tensor(offset, shape, strides), {"tensor 'w'", why});
}

std::vector<float> logits_of(const Model& model) {
  Session session(model);
  return copied(session.forward(random_ids(model.config(), 14), Rows::all));
}

}  // namespace

TEST_CASE("a file that PyTorch wrote holds the same tensors as its safetensors form", "[io]") {
  const auto source = open_pytorch({data() / "tensors.bin"});
  const auto expected = open_safetensors({data() / "tensors.safetensors"});
  REQUIRE(source->tensors().size() == expected->tensors().size());
  REQUIRE(source->tensors().size() == 19);
  for (std::size_t i = 0; i < expected->tensors().size(); ++i) {
    const auto& ours = source->tensors()[i];
    const auto& theirs = expected->tensors()[i];
    CAPTURE(theirs.name);
    CHECK(ours.name == theirs.name);
    CHECK(name_of(ours.dtype) == name_of(theirs.dtype));
    CHECK(ours.shape == theirs.shape);
    CHECK(std::equal(ours.bytes.begin(), ours.bytes.end(), theirs.bytes.begin(), theirs.bytes.end()));
  }
}

TEST_CASE("a model in PyTorch's shards gives the logits of its safetensors form, bit for bit", "[io]") {
  const TemporaryDirectory directory;
  fs::copy_file(data() / "model" / "config.json", directory.path() / "config.json");
  fs::copy_file(data() / "model.safetensors", directory.path() / "model.safetensors");
  const auto model = Model::load(data() / "model");
  CHECK(model.format() == "PyTorch");
  CHECK(logits_of(model) == logits_of(Model::load(directory.path())));
}

TEST_CASE("shards and their index must agree", "[io]") {
  const TemporaryDirectory directory;
  for (const auto& entry : fs::directory_iterator(data() / "model"))
    fs::copy_file(entry.path(), directory.path() / entry.path().filename());
  const auto second = directory.path() / "pytorch_model-00002-of-00002.bin";
  fs::copy_file(directory.path() / "pytorch_model-00001-of-00002.bin", second, fs::copy_options::overwrite_existing);
  check_refused(ErrorCode::model, [&] { (void)Model::load(directory.path()); },
                {"tensor 'model.layers.1.", "is also in"});
  fs::remove(second);
  check_refused(ErrorCode::model, [&] { (void)Model::load(directory.path()); }, {second.string(), "cannot be opened"});
}

TEST_CASE("files from before PyTorch 1.6 are refused with a word about what to do", "[io]") {
  check_refused(ErrorCode::model, [&] { (void)open_pytorch({data() / "old.bin"}); },
                {"old.bin", "expected a zip archive", "the older form", "torch.save"});
}

TEST_CASE("an archive without a pickle, with several, or of another byte order is refused", "[io]") {
  const auto good = one_tensor(0, {2, 3}, {3, 1});
  CHECK(opened(archive(good))->tensors()[0].shape == Shape{2, 3});
  check_bytes_refused(zip_file({{"x/data/0", "1234"}}), {"an entry 'data.pkl'", "none"});
  check_bytes_refused(zip_file({{"x/data.pkl", good}, {"y/data.pkl", good}}), {"'data.pkl'", "several"});
  check_bytes_refused(zip_file({{"x/data.pkl", good}}), {"tensor 'w'", "'x/data/0'", "no such entry"});
  check_bytes_refused(zip_file({{"x/data.pkl", good}, {"x/data/0", std::string(23, '\0')}}),
                      {"tensor 'w'", "expected 6 f32", "found 23 bytes"});
  check_bytes_refused(zip_file({{"x/data.pkl", good}, {"x/data/0", std::string(24, '\0')}, {"x/byteorder", "big"}}),
                      {"byteorder", "found 'big'"});
  check_bytes_refused("", {"end of zip archive"});
}

TEST_CASE("a pickle that names anything but tensors is refused by that name, and nothing of it is run", "[io]") {
  using namespace pickled;
  const TemporaryDirectory directory;
  const auto proof = directory.path() / "run";
  const auto command = tuple({text("touch " + proof.string())});
  for (const auto& [module, name] :
       std::vector<std::pair<std::string, std::string>>{{"posix", "system"},
                                                        {"os", "system"},
                                                        {"builtins", "eval"},
                                                        {"__builtin__", "exec"},
                                                        {"subprocess", "Popen"},
                                                        {"torch", "load"},
                                                        {"torch._utils", "_rebuild_qtensor"},
                                                        {"collections", "deque"},
                                                        {"torch.", "FloatStorage"},
                                                        {"", ""}}) {
    check_pickle_refused(begin + global(module, name) + command + "R.", {"'" + module + "." + name + "'", "not run"});
    check_pickle_refused(dictionary({text("w"), global(module, name) + command + "R"}),
                         {"'" + module + "." + name + "'"});
  }
  CHECK_FALSE(fs::exists(proof));
  check_pickle_refused(begin + "c" + std::string(5000, 'a'), {"a name of sensible length"});
  check_pickle_refused(begin + "cposix", {"name", "cut short"});
}

TEST_CASE("opcodes that tensors do not need are refused", "[io]") {
  const std::string known = ".(qrhjcQRbsuXKMJ}\x8A\x88\x89)\x85\x86\x87t";
  for (int code = 0; code < 256; ++code) {
    if (known.find(static_cast<char>(code)) != std::string::npos) continue;
    CAPTURE(code);
    check_pickle_refused(pickled::begin + std::string(1, static_cast<char>(code)) + "0\n.", {"byte 2", "opcode"});
  }
  check_pickle_refused("\x80\x04}.", {"a pickle of protocol 2"});
  check_pickle_refused("}.", {"a pickle of protocol 2"});
}

TEST_CASE("pickles whose stack, marks or memo do not work out are refused", "[io]") {
  using namespace pickled;
  for (const auto* codes : {".",
                            "t.",
                            "\x85.",
                            "s.",
                            "u.",
                            "R.",
                            "b.",
                            "Q.",
                            "q\1.",
                            "}}.",
                            "(.",
                            "}(s.",
                            "K\1s.",
                            "}K\1b.",
                            "(q\1",
                            "h\1.",
                            "j\1\1\1\1.",
                            "}(K\1u.",
                            "}q\1h\2.",
                            "K\1.",
                            ").",
                            "}."
                            "}"}) {
    CAPTURE(codes);
    check_pickle_refused(begin + codes, {"byte ", "expected", "found"});
  }
  for (const auto& bytes : {begin, begin + "X\xFF\xFF\xFF\xFF", begin + "X\5\0\0", begin + "M\1", begin + "\x8A\xFF"})
    check_pickle_refused(bytes, {"expected", "found"});
  check_pickle_refused(begin + "X" + std::string("\2\0\0\0\xC3\x28", 6), {"UTF-8"});
  check_pickle_refused(begin + "\x8A\x09" + std::string(9, '\1') + ".", {"at most 8 bytes", "found 9"});
}

TEST_CASE("a dictionary that holds itself, deep nesting and long memos end in a refusal", "[io]") {
  using namespace pickled;
  check_pickle_refused(begin + "}q\1" + text("w") + "h\1s.", {"a tensor under 'w'", "found a dictionary"});
  check_pickle_refused(begin + ")" + std::string(1000000, '\x85') + ".", {"expected a dictionary", "found a tuple"});
  std::string doubling = begin + ")";
  for (int i = 0; i < 100000; ++i) doubling += "q\1h\1\x86";
  check_pickle_refused(doubling + ".", {"expected a dictionary", "found a tuple"});
  check_pickle_refused(begin + std::string(std::size_t{1} << 24U, '}'), {"expected at most 16777216 bytes"});
}

TEST_CASE("what is no dictionary of tensors is refused by name", "[io]") {
  using namespace pickled;
  const auto w = tensor(six(), 0, {6}, {1});
  check_pickle_refused(begin + w + ".", {"expected a dictionary", "found a tensor"});
  check_pickle_refused(dictionary({text("epoch"), integer(3)}), {"a tensor under 'epoch'", "found an integer"});
  check_pickle_refused(dictionary({text("model"), "}"}), {"a tensor under 'model'", "found a dictionary"});
  check_pickle_refused(dictionary({integer(1), w}), {"names of tensors", "found an integer"});
  check_pickle_refused(dictionary({text("w"), w, text("w"), w}), {"'w' once", "twice"});
  check_pickle_refused(dictionary({text("w")}), {"as many values as keys"});
  CHECK(opened(archive(dictionary({})))->tensors().empty());
}

TEST_CASE("calls and storages with other arguments are refused", "[io]") {
  using namespace pickled;
  const auto call = global("torch._utils", "_rebuild_tensor_v2");
  check_pickle_refused(dictionary({text("w"), call + tuple({six()}) + "R"}), {"for a tensor"});
  check_pickle_refused(dictionary({text("w"), global("torch", "FloatStorage") + tuple({}) + "R"}),
                       {"a call that makes a tensor", "'torch.FloatStorage' with 0 arguments"});
  check_pickle_refused(dictionary({text("w"), global("collections", "OrderedDict") + tuple({integer(1)}) + "R"}),
                       {"'collections.OrderedDict' with 1 arguments"});
  check_pickle_refused(dictionary({text("w"), global("torch._utils", "_rebuild_parameter") + tuple({six()}) + "R"}),
                       {"'torch._utils._rebuild_parameter' with 1 arguments"});
  const auto whole = [](const std::string& part) { return pickled::dictionary({text("w"), part}); };
  check_pickle_refused(whole(tuple({text("storage")}) + "Q"), {"the description of a storage"});
  check_pickle_refused(whole(tuple({text("module"), call, text("0"), text("cpu"), integer(1)}) + "Q"),
                       {"the description of a storage"});
  check_pickle_refused(whole(storage("FloatStorage", std::string(300, '0'), 6)), {"the description of a storage"});
  check_pickle_refused(whole(tensor(storage("FloatStorage", "../../secret", 6), 0, {6}, {1})), {"no such entry"});
  check_pickle_refused(whole(tensor(storage("DoubleStorage", "0", 6), 0, {6}, {1})), {"expected 6 f64", "24 bytes"});
  for (const auto count : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{5}, std::int64_t{7}, std::int64_t{1} << 62})
    check_pickle_refused(whole(tensor(storage("FloatStorage", "0", count), 0, {1}, {1})),
                         {"tensor 'w'", "expected " + std::to_string(count) + " f32"});
}

TEST_CASE("offsets, extents and strides that leave the storage are refused", "[io]") {
  constexpr auto huge = std::int64_t{1} << 62;
  check_tensor_refused(0, {2, 3}, {3}, "not as many strides as extents");
  check_tensor_refused(0, {-1}, {1}, "does not fit");
  check_tensor_refused(0, {huge, 8}, {1, 1}, "does not fit");
  check_tensor_refused(-1, {2}, {1}, "the offset lies outside");
  check_tensor_refused(7, {0}, {1}, "the offset lies outside");
  check_tensor_refused(huge, {1}, {1}, "the offset lies outside");
  check_tensor_refused(0, {7}, {1}, "more numbers than there are");
  check_tensor_refused(0, {7}, {0}, "more numbers than there are");  // one number, stretched
  check_tensor_refused(1, {6}, {1}, "the last number lies outside");
  check_tensor_refused(6, {1}, {1}, "the last number lies outside");
  check_tensor_refused(0, {2, 3}, {4, 1}, "the last number lies outside");
  check_tensor_refused(5, {2}, {-1}, "the last number lies outside");
  check_tensor_refused(0, {2}, {huge}, "the last number lies outside");
  check_tensor_refused(0, {3}, {huge}, "the last number lies outside");
  check_pickle_refused(one_tensor(0, Shape(65, 1), Shape(65, 1)), {"at most 64 extents"});
  CHECK(opened(archive(one_tensor(0, {0, huge, 8}, {1, 1, 1})))->tensors()[0].bytes.empty());  // without a product
}

TEST_CASE("numbers out of order are put in order only as far as the file is long", "[io]") {
  using namespace pickled;
  const auto turned = tensor(six(), 0, {3, 2}, {1, 3});
  CHECK(opened(archive(dictionary({text("w"), turned})))->tensors()[0].bytes.size() == 24);
  std::vector<std::string> many;
  auto keep = turned + std::string("q\1");
  for (int i = 0; i < 2000; ++i) {
    many.push_back(text(std::to_string(i)));
    many.push_back(i == 0 ? keep : "h\1");
  }
  check_pickle_refused(dictionary(many), {"that do not lie in order, as the file is long"});
}

TEST_CASE("a pickle that makes tensors by the million is refused", "[io]") {
  using namespace pickled;
  const auto call = global("torch._utils", "_rebuild_tensor_v2") + std::string("q\1");
  const auto whole = tensor(six(), 0, Shape(64, 1), Shape(64, 0));
  const auto arguments = whole.substr(global("torch._utils", "_rebuild_tensor_v2").size());
  auto pickle = begin + call + arguments.substr(0, arguments.size() - 1) + "q\2R";
  for (int i = 0; i < 1 << 18; ++i) pickle += "h\1h\2R";  // the same again, in five bytes
  check_pickle_refused(pickle + ".", {"at most 262144 tensors"});
}

}  // namespace qkv::test
