-- Of tests of terms over clusters, Wald's F (`f_value`) with `df` and `df_residual` is what `p_value` belongs to; what
-- independent rows give (chi squared of likelihoods, F) is in columns that end with _rows.
ALTER TABLE logistic_tests ADD COLUMN f_value DOUBLE;
ALTER TABLE logistic_tests ADD COLUMN df_residual DOUBLE;
ALTER TABLE logistic_tests ADD COLUMN chi_squared_rows DOUBLE;
ALTER TABLE lm_tests ADD COLUMN f_value_rows DOUBLE;
ALTER TABLE lm_tests ADD COLUMN df_residual_rows DOUBLE;
ALTER TABLE clm_tests ADD COLUMN f_value DOUBLE;
ALTER TABLE clm_tests ADD COLUMN df_residual DOUBLE;
ALTER TABLE clm_tests ADD COLUMN chi_squared_rows DOUBLE;
ALTER TABLE clogit_tests ADD COLUMN f_value DOUBLE;
ALTER TABLE clogit_tests ADD COLUMN df_residual DOUBLE;
ALTER TABLE clogit_tests ADD COLUMN chi_squared_rows DOUBLE;
