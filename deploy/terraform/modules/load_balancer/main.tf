resource "aws_lb" "this" {
  name                             = "${var.name}-proxies"
  load_balancer_type               = "network"
  internal                         = var.internal
  subnets                          = var.subnet_ids
  security_groups                  = [var.security_group_id]
  enable_cross_zone_load_balancing = true
  tags                             = { Name = "${var.name}-proxies" }
}

# A network load balancer balances connections, not calls, and does not support gRPC: it checks readiness over HTTP,
# at the proxies' other port. It passes TLS on: only proxies have a key. It checks no certificate.
resource "aws_lb_target_group" "grpc" {
  name                 = "${var.name}-proxies"
  vpc_id               = var.vpc_id
  target_type          = "instance"
  protocol             = "TCP"
  port                 = 5000
  deregistration_delay = 30
  tags                 = { Name = "${var.name}-proxies" }

  health_check {
    protocol            = var.insecure ? "HTTP" : "HTTPS"
    port                = "5080"
    path                = "/health/ready"
    matcher             = "200"
    interval            = 10
    timeout             = 5
    healthy_threshold   = 2
    unhealthy_threshold = 2
  }
}

resource "aws_lb_target_group_attachment" "proxy" {
  for_each = var.proxy_ids

  target_group_arn = aws_lb_target_group.grpc.arn
  target_id        = each.value
  port             = 5000
}

resource "aws_lb_listener" "grpc" {
  load_balancer_arn = aws_lb.this.arn
  protocol          = "TCP"
  port              = 5000

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.grpc.arn
  }
}
