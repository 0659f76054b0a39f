output "address" {
  description = "The address for callers."
  value       = "${aws_lb.this.dns_name}:${aws_lb_listener.grpc.port}"
}
