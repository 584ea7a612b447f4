"""Statistics of tables: what summaries are computed with, errors over disorder samples.

Functions take columns of a table, such as loads, successes and the disorder sample of each row.

    student         intervals of estimates from few draws
    clusters        means and error bars of trials that share stored patterns
    deviations      how far means lie from theory, in their errors
    success_counts  successes by load and disorder sample, pooled and cut
    thresholds      critical loads where half of the trials succeed, by regression
    probit          the regression that those are from
    posterior       such loads where too little was measured for a regression
    monotone        such loads without a model of the curve's shape
    crossings       where a curve passes one half or another level
    lines           straight lines by weighted least squares
    extrapolation   critical loads at infinite size
    ranking         area under the ROC curve
    estimates       rows of estimates from tables of means
    columns         columns of numbers as all of these take them
"""
