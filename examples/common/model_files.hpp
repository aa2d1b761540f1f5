#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include <CLI/App.hpp>
#include <lazymoe/gguf/file.hpp>
#include <lazymoe/storage/any_storage.hpp>

namespace examples {

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
