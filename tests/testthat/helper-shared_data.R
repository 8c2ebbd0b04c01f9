# A folder of data of others, which lie next to the checkout and are no part of it; skips where they are not here.
shared_data <- function(name) {
  folders <- above(normalizePath(getwd()), file.path("shared", "data", name))
  skip_if(length(folders) == 0, "not in a checkout")
  folders[[1]]
}
