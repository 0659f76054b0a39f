output "usd_per_hour" {
  description = "The sum; null where an instance type's price is not in the table."
  value       = local.parts == null ? null : ceil(sum(values(local.parts)) * 10000) / 10000
}

output "text" {
  description = "The sum with its parts, or why there is none."
  value = local.parts == null ? "unknown: no price at hand of ${join(", ", local.unknown)}" : join(", ", concat(
    [format("%.4f USD an hour at the prices of us-east-1", sum(values(local.parts)))],
    [for part, price in local.parts : format("%s %.4f", replace(part, "_", " "), price) if price > 0],
  ))
}
