locals {
  # An existing tier outside the platform has no group: its callers may connect to its networks instead.
  groups = toset([
    for endpoint in distinct(flatten([for rule in var.rules : [rule.from, rule.to]])) : endpoint
    if endpoint != "callers" && !contains(keys(var.external), endpoint)
  ])

  rules = { for rule in var.rules : "${rule.from}-${rule.to}-${rule.port}" => rule }

  between = {
    for key, rule in local.rules : key => rule if contains(local.groups, rule.from) && contains(local.groups, rule.to)
  }

  from_callers = merge([
    for key, rule in local.rules : {
      for cidr in var.callers : "${key}-${cidr}" => merge(rule, { cidr = cidr })
    } if rule.from == "callers"
  ]...)

  to_external = merge([
    for key, rule in local.rules : {
      for cidr in var.external[rule.to] : "${key}-${cidr}" => merge(rule, { cidr = cidr })
    } if contains(keys(var.external), rule.to)
  ]...)

  # Packages, the release, the parameter store and the systems manager. Groups do not apply to the
  # network's own DNS and NTP.
  to_internet = {
    for pair in setproduct(var.tiers, [80, 443]) : "${pair[0]}-${pair[1]}" => { from = pair[0], port = pair[1] }
  }
}

resource "aws_security_group" "this" {
  for_each = local.groups

  name        = "${var.name}-${each.key}"
  description = "${each.key} of ${var.name}"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-${each.key}" }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "between" {
  for_each = local.between

  security_group_id            = aws_security_group.this[each.value.to].id
  referenced_security_group_id = aws_security_group.this[each.value.from].id
  ip_protocol                  = each.value.protocol
  from_port                    = each.value.port
  to_port                      = each.value.port
  description                  = "${each.value.why}, from ${each.value.from}"
}

resource "aws_vpc_security_group_egress_rule" "between" {
  for_each = local.between

  security_group_id            = aws_security_group.this[each.value.from].id
  referenced_security_group_id = aws_security_group.this[each.value.to].id
  ip_protocol                  = each.value.protocol
  from_port                    = each.value.port
  to_port                      = each.value.port
  description                  = "${each.value.why}, to ${each.value.to}"
}

resource "aws_vpc_security_group_ingress_rule" "callers" {
  for_each = local.from_callers

  security_group_id = aws_security_group.this[each.value.to].id
  cidr_ipv4         = each.value.cidr
  ip_protocol       = each.value.protocol
  from_port         = each.value.port
  to_port           = each.value.port
  description       = "${each.value.why}, from callers"
}

resource "aws_vpc_security_group_egress_rule" "external" {
  for_each = local.to_external

  security_group_id = aws_security_group.this[each.value.from].id
  cidr_ipv4         = each.value.cidr
  ip_protocol       = each.value.protocol
  from_port         = each.value.port
  to_port           = each.value.port
  description       = "${each.value.why}, to ${each.value.to}"
}

resource "aws_vpc_security_group_egress_rule" "internet" {
  for_each = local.to_internet

  security_group_id = aws_security_group.this[each.value.from].id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = each.value.port
  to_port           = each.value.port
  description       = "packages, release, parameters, systems manager"
}
