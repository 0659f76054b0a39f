output "usd_per_hour" {
  description = "The sum; null if the price of an instance type is not in the table."
  value       = local.parts == null ? null : ceil(sum(values(local.parts)) * 10000) / 10000
}

output "text" {
  description = "The sum with its parts, or the reason why there is none."
  value = local.parts == null ? "unknown: no price for ${join(", ", local.unknown)}" : join(", ", concat(
    [format("%.4f USD per hour at the prices of us-east-1", sum(values(local.parts)))],
    [for part, price in local.parts : format("%s %.4f", replace(part, "_", " "), price) if price > 0],
  ))
}
