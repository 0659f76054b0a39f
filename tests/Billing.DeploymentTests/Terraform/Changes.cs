namespace Billing.DeploymentTests.Terraform;

/// <summary>The effect of changes on running machines.</summary>
public sealed class Changes
{
    [Theory]
    [InlineData("postgres=machine")]
    [InlineData("postgres=rds")]
    public async Task After_apply_a_plan_has_no_changes(string variable)
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();
        await copy.ApplyAsync(variable);

        Assert.Empty((await copy.PlanAsync("", variable)).Changes);
    }

    [Fact]
    public async Task A_tier_grows_without_a_change_to_running_machines()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();
        await copy.ApplyAsync();

        Assert.Equal(
            [
                "create module.access.aws_iam_instance_profile.this[\"proxy-4\"]",
                "create module.access.aws_iam_role.this[\"proxy-4\"]",
                "create module.access.aws_iam_role_policy.this[\"proxy-4\"]",
                "create module.host[\"proxy-4\"].aws_instance.this",
                "create module.load_balancer.aws_lb_target_group_attachment.proxy[\"proxy-4\"]",
            ],
            (await copy.PlanAsync("", "tiers={proxy={count=4}}")).Changes.Order());
    }

    [Fact]
    public async Task A_change_to_running_machines_is_found()
    {
        await using var copy = await TerraformCopy.MakeWithProviderAsync();
        await copy.Plant("modules/host/main.tf", "[ami, user_data]", "[ami]").ApplyAsync();

        Assert.Contains(
            "update module.host[\"kafka-1\"].aws_instance.this",
            (await copy.PlanAsync("", "tiers={proxy={count=4}}")).Changes);
    }
}
