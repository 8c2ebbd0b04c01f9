# The argument `name` of run_check(), for its help page: each check of R/check_*.R with the first line of its comment
# and the arguments that it takes besides those of most checks. A new check is on the page after `make docs`.
usual <- c("data", "by", "outcome", "contrast", "levels")

described_check <- function(name, lines) {
  start <- grep(sprintf("^%s <- function\\(", name), lines)
  comments <- rev(cumprod(rev(startsWith(lines[seq_len(start - 1)], "#'")))) == 1
  title <- sub("\\.$", "", sub("^#' ", "", lines[which(comments)[[1]]]))
  called <- formals(eval(parse(text = lines[start:length(lines)])[[1]][[3]]))
  own <- setdiff(names(called), usual)
  title <- if (endsWith(title, "?")) title else paste0(title, ".")
  more <- if (length(own) > 0) sprintf(" (%s)", toString(sprintf("`%s`", own))) else ""
  sprintf("  \\item{`\"%s\"`}{%s%s}", name, title, more)
}

described_file <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  found <- regmatches(lines, regexec("^(check_\\w+) <- function\\(data, ", lines))
  vapply(Filter(length, found), function(match) described_check(match[[2]], lines), "")
}

items <- sort(unlist(lapply(Sys.glob("R/check_*.R"), described_file)), method = "radix")
c("@param name \\describe{", items, "}")
