output "address" {
  description = "Where callers connect."
  value       = "${aws_lb.this.dns_name}:${aws_lb_listener.grpc.port}"
}
