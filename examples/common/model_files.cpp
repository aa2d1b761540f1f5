#include "common/model_files.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <lazymoe/core/error.hpp>
#include <lazymoe/core/units.hpp>
#include <lazymoe/io/url.hpp>
#ifdef EXAMPLES_CURL
#include <lazymoe/storage/remote.hpp>
#endif

namespace examples {

#ifdef EXAMPLES_CURL

struct ModelFiles::Remote {
  lazymoe::io::RemoteFiles files;
};

ModelFiles::ModelFiles(const std::string& model, const std::string& url_cache) {
  if (!lazymoe::io::is_url(model)) return;
  std::optional<std::filesystem::path> folder;
  if (!url_cache.empty()) folder = url_cache;
  remote_ = std::make_shared<const Remote>(Remote{lazymoe::io::RemoteFiles({}, std::move(folder))});
}

lazymoe::gguf::File ModelFiles::open(const std::string& model) const {
  if (!by_url()) return lazymoe::gguf::File(model);
  return {model, [this](const std::filesystem::path& url) { return remote_->files.open(url); }};
}

lazymoe::storage::AnyStorage ModelFiles::storage(std::span<const std::filesystem::path> paths) const {
  return lazymoe::storage::AnyStorage(lazymoe::storage::Remote(paths, remote_->files));
}

std::string ModelFiles::traffic() const {
  if (!by_url()) return {};
  const auto traffic = remote_->files.traffic();
  std::string text = "transferred " + lazymoe::format_bytes(traffic.bytes) + " in " + std::to_string(traffic.requests) +
                     (traffic.requests == 1 ? " request" : " requests");
  if (traffic.from_cache > 0) text += ", " + lazymoe::format_bytes(traffic.from_cache) + " from --url-cache";
  return text;
}

#else

struct ModelFiles::Remote {};

ModelFiles::ModelFiles(const std::string& model, const std::string&) {
  if (lazymoe::io::is_url(model)) {
    throw lazymoe::Error(lazymoe::Errc::bad_argument, model + ": this program was built without libcurl and opens files only");
  }
}

lazymoe::gguf::File ModelFiles::open(const std::string& model) const { return lazymoe::gguf::File(model); }

lazymoe::storage::AnyStorage ModelFiles::storage(std::span<const std::filesystem::path> paths) const {
  return lazymoe::storage::AnyStorage(paths);
}

std::string ModelFiles::traffic() const { return {}; }

#endif

void add_url_cache(CLI::App& app, std::string& folder) {
  app.add_option("--url-cache", folder, "folder that keeps what was read of a model at a URL, for the next time");
}

}  // namespace examples
