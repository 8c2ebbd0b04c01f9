# A file of very many tables is refused before DuckDB opens it, which reads the whole catalog first: of 10^6 tables that
# is some 20 s and 7 GB. How many there are is at the start of the catalog (collector/keep/schema.py does the
# same). Another process reads the bytes: one that opens and closes a file which it has in DuckDB loses its lock.

most_catalog_entries <- 10000
sector_bytes <- 4096

check_catalog_size <- function(path, most = most_catalog_entries) {
  if (dir.exists(path) || file.size(path) < 200 * most) {
    return(invisible())
  }
  number <- catalog_entries(path)
  if (!is.na(number) && number > most) {
    stop_with(
      sprintf("Can't open %s: it holds %.0f tables and views.", quoted(path), number),
      sprintf("slant makes some 150, and opens no file of more than %.0f.", most)
    )
  }
}

# NA where the file is not written as it is known here.
catalog_entries <- function(path) {
  head <- sectors(path, 0, 3)
  if (length(head) < 3 * sector_bytes || !identical(head[9:12], charToRaw("DUCK"))) {
    return(NA_real_)
  }
  # of the two headers of the database the newer one holds: its number, where the catalog begins, ..., a block's bytes
  starts <- c(1, 2) * sector_bytes + 8
  start <- starts[[which.max(vapply(starts, function(at) little_endian(head[at + 1:8]), numeric(1)))]]
  block <- little_endian(head[start + 8 + 1:7])
  part <- as.integer(head[start + 16])
  block_bytes <- little_endian(head[start + 32 + 1:8])
  part_bytes <- ((block_bytes - 8) %/% 64) %/% 8 * 8
  at <- 3 * sector_bytes + block * block_bytes + 8 + part * part_bytes + 8
  if (at > file.size(path)) {
    return(NA_real_)
  }
  list <- sectors(path, at %/% sector_bytes, 2)[at %% sector_bytes + 1:12]
  if (!identical(list[1:2], as.raw(c(0x64, 0)))) {
    return(NA_real_)
  }
  bytes <- as.integer(list[3:12])
  bytes <- bytes[seq_len(which(bytes < 128)[1])]
  sum(bytes %% 128 * 128^(seq_along(bytes) - 1))
}

little_endian <- function(bytes) sum(as.integer(bytes) * 256^(seq_along(bytes) - 1))

sectors <- function(path, first, count) {
  words <- sprintf("dd if=%s bs=%.0f skip=%.0f count=%.0f", shQuote(path.expand(path)), sector_bytes, first, count)
  output <- pipe(paste(words, "2>/dev/null"), "rb")
  on.exit(close(output))
  readBin(output, "raw", count * sector_bytes)
}
