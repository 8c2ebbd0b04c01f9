-- Of estimands of attributes: which clusters errors are over (`clusters`), how many the level with the fewest has
-- (`n_clusters`), and how the error was computed (`method`: HC1, CR2, pooled, two ways, cregg). Pairs of levels have
-- their estimate, interval and both p next to each other, ratios both groups' rates and sizes and a verdict in words.
ALTER TABLE marginal_means_levels ADD COLUMN clusters TEXT;
ALTER TABLE marginal_means_levels ADD COLUMN n_clusters BIGINT;
ALTER TABLE marginal_means_levels ADD COLUMN method TEXT;
ALTER TABLE amce_levels ADD COLUMN clusters TEXT;
ALTER TABLE amce_levels ADD COLUMN n_clusters BIGINT;
ALTER TABLE amce_levels ADD COLUMN method TEXT;
ALTER TABLE mean_contrasts_contrasts ADD COLUMN clusters TEXT;
ALTER TABLE mean_contrasts_contrasts ADD COLUMN n_clusters BIGINT;
ALTER TABLE mean_contrasts_contrasts ADD COLUMN method TEXT;
ALTER TABLE mean_contrasts_contrasts ADD COLUMN estimate DOUBLE;
ALTER TABLE mean_contrasts_contrasts ADD COLUMN std_error DOUBLE;
ALTER TABLE mean_contrasts_contrasts ADD COLUMN df DOUBLE;
ALTER TABLE mean_contrasts_contrasts ADD COLUMN p_value DOUBLE;
ALTER TABLE mean_contrasts_contrasts ADD COLUMN conf_low DOUBLE;
ALTER TABLE mean_contrasts_contrasts ADD COLUMN conf_high DOUBLE;
ALTER TABLE impact_ratio_ratios ADD COLUMN reference_rate DOUBLE;
ALTER TABLE impact_ratio_ratios ADD COLUMN n_reference BIGINT;
ALTER TABLE impact_ratio_ratios ADD COLUMN p_value DOUBLE;
ALTER TABLE impact_ratio_ratios ADD COLUMN verdict TEXT;
-- Of regressions with clusters, `estimates` and p of tests are over the clusters; here those of independent rows, as
-- papers print them.
ALTER TABLE logistic_clustered ADD COLUMN std_error_rows DOUBLE;
ALTER TABLE logistic_clustered ADD COLUMN statistic_rows DOUBLE;
ALTER TABLE logistic_clustered ADD COLUMN p_value_rows DOUBLE;
ALTER TABLE logistic_clustered ADD COLUMN conf_low_rows DOUBLE;
ALTER TABLE logistic_clustered ADD COLUMN conf_high_rows DOUBLE;
ALTER TABLE logistic_tests ADD COLUMN p_value_rows DOUBLE;
ALTER TABLE lm_clustered ADD COLUMN std_error_rows DOUBLE;
ALTER TABLE lm_clustered ADD COLUMN statistic_rows DOUBLE;
ALTER TABLE lm_clustered ADD COLUMN p_value_rows DOUBLE;
ALTER TABLE lm_clustered ADD COLUMN conf_low_rows DOUBLE;
ALTER TABLE lm_clustered ADD COLUMN conf_high_rows DOUBLE;
ALTER TABLE lm_tests ADD COLUMN p_value_rows DOUBLE;
ALTER TABLE clm_clustered ADD COLUMN std_error_rows DOUBLE;
ALTER TABLE clm_clustered ADD COLUMN statistic_rows DOUBLE;
ALTER TABLE clm_clustered ADD COLUMN p_value_rows DOUBLE;
ALTER TABLE clm_clustered ADD COLUMN conf_low_rows DOUBLE;
ALTER TABLE clm_clustered ADD COLUMN conf_high_rows DOUBLE;
ALTER TABLE clm_tests ADD COLUMN p_value_rows DOUBLE;
ALTER TABLE clogit_clustered ADD COLUMN std_error_rows DOUBLE;
ALTER TABLE clogit_clustered ADD COLUMN statistic_rows DOUBLE;
ALTER TABLE clogit_clustered ADD COLUMN p_value_rows DOUBLE;
ALTER TABLE clogit_clustered ADD COLUMN conf_low_rows DOUBLE;
ALTER TABLE clogit_clustered ADD COLUMN conf_high_rows DOUBLE;
ALTER TABLE clogit_tests ADD COLUMN p_value_rows DOUBLE;
