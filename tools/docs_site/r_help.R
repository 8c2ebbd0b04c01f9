# Writes each help page of the package as HTML: Rscript tools/docs_site/r_help.R MAN OUT
arguments <- commandArgs(TRUE)
files <- list.files(arguments[[1]], "[.]Rd$", full.names = TRUE)
pages <- stats::setNames(lapply(files, tools::parse_Rd), sub("[.]Rd$", "", basename(files)))

aliases_of <- function(page) {
  tags <- vapply(page, function(part) attr(part, "Rd_tag"), "")
  vapply(page[tags == "\\alias"], function(part) as.character(part[[1]]), "")
}
links <- unlist(lapply(names(pages), function(name) {
  aliases <- aliases_of(pages[[name]])
  stats::setNames(rep(paste0(name, ".html"), length(aliases)), aliases)
}))

for (name in names(pages)) {
  tools::Rd2HTML(
    pages[[name]], out = file.path(arguments[[2]], paste0(name, ".html")), package = "", Links = links,
    Links2 = character(),
    stages = c("build", "install", "render")
  )
}
