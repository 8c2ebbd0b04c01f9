# A folder of data of others, which lie next to the checkout and are no part of it; skips where they are not here.
shared_data <- function(name) {
  folders <- above(normalizePath(getwd()), file.path("shared", "data", name))
  skip_if(length(folders) == 0, "not in a checkout")
  folders[[1]]
}

# A published conjoint: its profiles, the effects that were recomputed of it, its attributes and the levels of each, the
# reference first.
immigration <- function() {
  table <- function(file) utils::read.csv(file.path(shared_data("conjoint_immigration"), file))
  profiles <- table("profiles.csv")
  recomputed <- table("recomputed.csv")
  effects <- recomputed[recomputed$quantity == "AMCE", ]
  attributes <- unique(effects$attribute)
  levels <- lapply(stats::setNames(attributes, attributes), function(name) {
    unique(c(effects$reference[effects$attribute == name][[1]], sort(unique(profiles[[name]]))))
  })
  list(profiles = profiles, recomputed = recomputed, attributes = attributes, levels = levels, table = table)
}

# ordinal's own wine data: what its vignettes print.
wine <- function() {
  skip_if_not_installed("ordinal")
  wine <- get(utils::data(list = "wine", package = "ordinal", envir = environment()))
  data.frame(lapply(wine[c("temp", "contact", "judge", "bottle")], as.character), rating = as.integer(wine$rating))
}
wine_levels <- list(temp = c("cold", "warm"), contact = c("no", "yes"))
