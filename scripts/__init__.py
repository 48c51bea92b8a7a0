"""blkcampaign: one script per rule, and the packages behind them (docs/architecture.md)."""
