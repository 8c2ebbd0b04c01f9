# One test for each chunk of each vignette, in their order: what a chunk makes, the next one finds.

vignette_chunks <- function(file) {
  script <- withr::local_tempfile(fileext = ".R")
  knitr::purl(file, output = script, documentation = 1, quiet = TRUE)
  lines <- readLines(script, encoding = "UTF-8")
  is_head <- grepl("^## ----", lines)
  chunks <- split(lines, cumsum(is_head))
  chunks <- chunks[names(chunks) != "0"]
  names(chunks) <- sub("^## ----([^,-]+(?:-[^,-]+)*).*", "\\1", vapply(chunks, `[[`, "", 1), perl = TRUE)
  chunks
}

in_source <- dir.exists(file.path(root_folder(), "vignettes"))
if (in_source && requireNamespace("knitr", quietly = TRUE)) {
  for (file in list.files(file.path(root_folder(), "vignettes"), "[.]Rmd$", full.names = TRUE)) {
    if (Sys.getenv("SLANT_FULL") == "" && basename(file) != "slant.Rmd") {
      next # the other pages in make test-full
    }
    # The functions of this checkout stand for the package that a reader attaches.
    place <- new.env(parent = environment(simulate_trials))
    place$library <- function(package) expect_equal(deparse(substitute(package)), "slant")
    chunks <- vignette_chunks(file)
    for (name in names(chunks)) {
      test_that(sprintf("chunk \"%s\" of %s runs without a warning", name, basename(file)), {
        printed <- utils::capture.output(
          expect_warning(source(textConnection(chunks[[name]]), local = place, echo = FALSE, print.eval = TRUE), NA)
        )
        expect_false(any(grepl("^Error", printed)))
      })
    }
    test_that("the chunks were found, each by a name of its own", {
      n_fences <- sum(grepl("^```\\{r", readLines(file)))
      expect_length(chunks, n_fences)
      expect_false(anyDuplicated(names(chunks)) > 0 || any(grepl("^## ", names(chunks))))
    })
    if (basename(file) == "interference.Rmd") {
      test_that("the vignette counts 12 cells, and its truths are those of the trials", {
        expect_equal(nrow(merge(place$counts("is_valid"), place$counts("is_consistent"))), 12)
        expect_identical(place$trials, simulate_forced_choice(place$parameters))
      })
    }
    if (basename(file) == "hiring.Rmd") {
      test_that("the vignette's participants lie where theirs are known to lie, next to chance", {
        si <- place$main[place$main$index == "si", ]
        expect_equal(si$estimate, c(.275, 1.27), tolerance = .1)
        expect_equal(si$random_level, c(.275, .275), tolerance = .05)
        expect_equal(sum(place$counts$n), nrow(place$rounds))
      })
    }
    if (basename(file) != "slant.Rmd") {
      next
    }
    test_that("the vignette's table is that of the models, and its topics tell the conditions apart", {
      expect_equal(place$s6$condition[[1]], place$fit$estimates$estimate[[2]])
      expect_equal(nrow(place$s6), 4)
      skip_if_not_installed("stm")
      expect_length(place$bias, 1)
      expect_gt(place$shifts$estimate[is.na(place$shifts$model)], .1)
    })
  }
}
