# Knits one page of vignettes/ into Markdown: Rscript tools/docs_site/knit.R PAGE.Rmd OUT.md
# Its figures go into a folder next to OUT.md that is named like the page. The functions of this checkout are the package.
arguments <- commandArgs(TRUE)
page <- normalizePath(arguments[[1]])
out <- file.path(normalizePath(dirname(arguments[[2]])), basename(arguments[[2]]))
root <- dirname(dirname(page))

functions <- new.env()
for (file in list.files(file.path(root, "R"), "[.]R$", full.names = TRUE)) {
  sys.source(file, functions)
}
place <- new.env(parent = functions)
place$library <- function(...) invisible()

folder <- tempfile("knit")
dir.create(folder)
knitr::opts_knit$set(root.dir = folder, base.dir = dirname(out), progress = FALSE)
knitr::opts_chunk$set(
  fig.path = paste0(sub("[.]md$", "", basename(out)), "-figures/"), dev = "svg", error = FALSE, warning = FALSE
)
knitr::knit(page, output = out, envir = place, quiet = TRUE)
