namespace Billing.DeploymentTests.Bootstrap;

/// <summary>What the monitoring machine reads from the others.</summary>
public sealed class MachineMetrics
{
    [Theory]
    [InlineData("false", "https")]
    [InlineData("true", "http")]
    public async Task Metrics_of_proxies_are_read_where_operators_are_served_and_over_TLS(
        string insecure, string scheme)
    {
        var settings = ReleaseYaml.Read((await RunAsync($"""
            . "$BILLING_BOOTSTRAP/tiers/monitoring.sh"
            BILLING_INSECURE={insecure} BILLING_HOSTS=proxy-1=10.0.0.31,webhooks-1=10.0.0.81
            prometheus_settings
            """)).Succeeded().Output)[0];

        var job = settings.Items("scrape_configs").Single(job => job.Text("job_name") == "billing");
        Assert.Equal("/etc/billing/tls/proxies-ca.pem", job.Text("tls_config.ca_file"));
        Assert.Equal(
            [scheme + "://10.0.0.31:5090", "http://10.0.0.81:5001"],
            job.Items("static_configs").Select(target =>
                $"{target.Text("labels.__scheme__")}://{target.Items("targets").Single()}"));
    }

    [Fact]
    public async Task The_metrics_of_a_machine_are_those_of_the_exporters_own_collectors_which_know_no_secret()
    {
        var result = (await RunAsync("""
            put_host_names() { :; }; need_packages() { :; }; own_user() { :; }; mkdir() { :; }; systemctl() { :; }
            put_file() { [[ $1 != /etc/default/prometheus-node-exporter ]] || cat; }
            BILLING_ADDRESS=10.0.0.21
            BILLING_TIER=postgres install_base
            BILLING_TIER=proxy install_base
            """)).Succeeded();

        const string Arguments = "ARGS=\"--web.listen-address=10.0.0.21:9100";
        Assert.Equal(
            $"{Arguments} --collector.textfile.directory=/run/billing-metrics\"\n{Arguments}\"\n", result.Output);
    }

    private static Task<ToolResult> RunAsync(string script) => ExternalTool.RunAsync(
        ExternalTool.Need("bash"),
        [
            "-c",
            $"set -euo pipefail; shopt -s inherit_errexit; BILLING_BOOTSTRAP='{Repository.Root}/deploy/bootstrap'; . "
                + $"\"$BILLING_BOOTSTRAP/common.sh\"\n{script}",
        ]);
}
