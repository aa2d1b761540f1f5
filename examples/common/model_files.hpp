#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include <CLI/StringTools.hpp>

#include <CLI/App.hpp>
#include <lazymoe/gguf/file.hpp>
#include <lazymoe/storage/any_storage.hpp>

namespace examples {

/// Whether a model is named by URL: also in programs that were built without libcurl.
[[nodiscard]] inline bool is_url(const std::string& model) {
  const std::string scheme = CLI::detail::to_lower(model.substr(0, model.find("://") + 3));
  return scheme == "http://" || scheme == "https://";
}

/// How the files of a model are reached: on a disk, or by URL where the programs are built with libcurl.
class ModelFiles {
 public:
  /// On a disk.
  ModelFiles() = default;

  /// @param  url_cache folder for what is read of a URL; empty: none
  /// @throws Error{bad_argument} for a URL in programs built without libcurl
  ModelFiles(const std::string& model, const std::string& url_cache);

  [[nodiscard]] lazymoe::gguf::File open(const std::string& model) const;
  [[nodiscard]] bool by_url() const { return remote_ != nullptr; }
  /// @pre by_url()
  [[nodiscard]] lazymoe::storage::AnyStorage storage(std::span<const std::filesystem::path> paths) const;
  /// What was transferred so far, for people; empty for files on a disk.
  [[nodiscard]] std::string traffic() const;

 private:
  struct Remote;
  std::shared_ptr<const Remote> remote_;
};

/// The option of programs that open models; `folder` is a member of what outlives the parsing.
void add_url_cache(CLI::App& app, std::string& folder);

}  // namespace examples
