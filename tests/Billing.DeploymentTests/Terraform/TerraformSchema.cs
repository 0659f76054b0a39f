namespace Billing.DeploymentTests.Terraform;

/// <summary>Terraform compares every attribute and block of the modules with the schema of the AWS provider.</summary>
public sealed class TerraformSchema
{
    [Fact]
    public async Task Terraform_finds_the_modules_valid()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        (await copy.ValidateAsync()).Succeeded();
    }

    [Theory]
    [InlineData("modules/host/main.tf", "private_ip ", "private_address ", "private_address")]
    [InlineData("modules/host/main.tf", "http_tokens", "https_tokens", "https_tokens")]
    [InlineData(
        "modules/host/main.tf", "volume_size           = var.host.volume_gib",
        "volume_size           = \"large\"", "a number is required")]
    [InlineData("modules/security/main.tf", "ip_protocol                  = each.value.protocol\n", "", "ip_protocol")]
    [InlineData("modules/database/outputs.tf", "aws_db_instance.this.address", "aws_db_instance.this.adress", "adress")]
    [InlineData(
        "modules/network/main.tf", "resource \"aws_internet_gateway\"",
        "resource \"aws_internet_gate\"", "aws_internet_gate")]
    public async Task Terraform_finds_names_that_the_provider_does_not_have(
        string file, string old, string mistake, string named)
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var result = await copy.Plant(file, old, mistake).ValidateAsync();

        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains(named, result.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Terraform_plans_all_modules_without_AWS()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();

        var plan = await copy.PlanAsync("");

        Assert.Equal(18, plan.OfType("aws_instance").Count());
    }
}
