namespace Billing.DeploymentTests.Terraform;

/// <summary>Format and style of the modules.</summary>
public sealed class TerraformFiles
{
    [Fact]
    public async Task All_files_are_formatted()
    {
        await using var copy = TerraformCopy.Make();

        Assert.Equal("", (await copy.RunAsync("", "fmt", "-check", "-recursive", "-no-color")).Output);
    }

    [Fact]
    public async Task A_file_that_is_not_formatted_is_found()
    {
        await using var copy = TerraformCopy.Make();

        var result = await copy.Plant("modules/network/main.tf", "  cidr_block           =", "cidr_block=")
            .RunAsync("", "fmt", "-check", "-recursive");

        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains("modules/network/main.tf", result.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Tflint_finds_no_problem()
    {
        await using var copy = TerraformCopy.Make();

        (await LintAsync(copy)).Succeeded();
    }

    [Theory]
    [InlineData(
        "modules/network/variables.tf", "variable \"name\"",
        "variable \"unused\" {\n  description = \"\"\n  type        = string\n}\n\nvariable \"name\"",
        "terraform_unused_declarations")]
    [InlineData(
        "modules/host/outputs.tf", "  description = \"The instance, for sessions of the systems manager.\"\n",
        "", "terraform_documented_outputs")]
    [InlineData("modules/release/variables.tf", "  type        = string\n", "", "terraform_typed_variables")]
    public async Task Tflint_finds_a_planted_mistake(string file, string old, string mistake, string rule)
    {
        await using var copy = TerraformCopy.Make();

        var result = await LintAsync(copy.Plant(file, old, mistake));

        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains(rule, result.Output, StringComparison.Ordinal);
    }

    private static Task<ToolResult> LintAsync(TerraformCopy copy) =>
        ExternalTool.RunAsync(
            ExternalTool.Need("tflint"),
            ["--recursive", "--no-color", $"--config={Path.Combine(copy.Folder, ".tflint.hcl")}"], copy.Folder);
}
