in_checkout <- function() {
  skip_if_not(dir.exists(file.path(root_folder(), "R")), "not in a checkout")
  root_folder()
}

help_pages <- function(root) file.path("man", dir(file.path(root, "man"), pattern = "[.]Rd$"))

# What roxygen2 8 writes otherwise than 7 without saying anything else: how an example with a condition begins, and an
# author who is the maintainer, too.
without_dialect <- function(lines) {
  autoprint <- "(if (getRversion() >= \"3.4\") withAutoprint else force)"
  text <- paste(sub(autoprint, "withAutoprint", lines, fixed = TRUE), collapse = "\n")
  sub("\nAuthors:\n\\\\itemize\\{[^}]*\\}\n\\}\n", "", text)
}

test_in_full("NAMESPACE and help pages are what roxygen2 makes of the sources", {
  root <- in_checkout()
  skip_if_not_installed("roxygen2")
  copy <- withr::local_tempdir()
  file.copy(file.path(root, c("R", "man", "tools", "DESCRIPTION", "NAMESPACE")), copy, recursive = TRUE)
  withr::with_dir(copy, suppressMessages(capture.output(roxygen2::roxygenise(".", load_code = "source"))))
  for (file in c("NAMESPACE", union(help_pages(root), help_pages(copy)))) {
    expect_true(file.exists(file.path(root, file)), info = file)
    made <- without_dialect(readLines(file.path(copy, file)))
    expect_identical(made, without_dialect(readLines(file.path(root, file))), info = file)
  }
})

test_that("no file needs another one when it is sourced", {
  for (file in list.files(file.path(in_checkout(), "R"), pattern = "\\.R$", full.names = TRUE)) {
    expect_error(sys.source(file, envir = new.env(parent = baseenv())), NA)
  }
})

# Of two functions of one name the file that is sourced last wins, without a word.
test_that("no name is given twice at the top of the files", {
  lines <- unlist(lapply(dir(file.path(in_checkout(), "R"), pattern = "\\.R$", full.names = TRUE), readLines))
  names <- sub(" <- .*", "", grep("^[[:alnum:]_.]+ <- ", lines, value = TRUE))
  expect_gt(length(names), 100)
  expect_equal(names[duplicated(names)], character())
})

# What is called in the R code of the pages, or named with (): in the text of README.md and vignettes/. The page for
# those who change slant names what is not exported, too.
named_in_pages <- function(root) {
  pages <- list.files(file.path(root, "vignettes"), "[.]Rmd$", full.names = TRUE)
  pages <- c(pages[!basename(pages) %in% c("developing.Rmd", "maintaining.Rmd")], file.path(root, "README.md"))
  text <- paste(unlist(lapply(pages, readLines, encoding = "UTF-8")), collapse = "\n")
  named <- "(?<![\\w.:$])[a-z][a-z0-9_]*(?=\\()"
  in_r <- regmatches(text, gregexpr("(?s)```\\{?r\\b.*?```", text, perl = TRUE))[[1]]
  in_text <- regmatches(text, gregexpr(paste0("(?<=`)", named), text, perl = TRUE))[[1]]
  unique(c(unlist(regmatches(in_r, gregexpr(named, in_r, perl = TRUE))), in_text))
}

test_that("the pages use functions that are exported, and each exported function is in a page", {
  root <- in_checkout()
  own <- environment(fit_lme4)
  is_function <- function(name) exists(name, own, mode = "function", inherits = FALSE)
  exported <- sub("export\\((.*)\\)", "\\1", grep("^export", readLines(file.path(root, "NAMESPACE")), value = TRUE))
  named <- Filter(is_function, named_in_pages(root))
  expect_equal(setdiff(named, exported), character())
  expect_equal(setdiff(exported, named), character())
  expect_lte(length(exported), 66)
})
